import { createHash } from 'node:crypto';
import type { SavedReport } from '../data/reports/saved-report-store';
import type { SavedReportService } from '../domain/reports/saved-report-service';
import { REPORT_DATES } from '../domain/reports/saved-report-service';
import type { RequestContext } from '../resolvers/request/request-context';
import { withPeriod, withValues, type ObjectSchema, type QueryReader } from '../resolvers/reports/variable-schemas';

/** Clients of the Model Context Protocol refuse longer names of tools, or cut them. */
const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;
/** The root field whose answer has all rows, however many they are. */
const STREAM = 'depositDetails';

/** The beginning of the names of saved reports. */
const REPORT = 'report_';
/** The length of a page of the list, about: the inputs of its tools, and what else each has. */
const PAGE_CHARACTERS = 250_000;
const TOOL_CHARACTERS = 2500;

/** A part of the list of tools. The next one begins after the tool `next`; undefined where there is none. */
interface ToolPage {
  readonly tools: readonly AgentTool[];
  readonly next?: string;
}

/** A tool that an agent may call: a saved report, or a trusted document. */
export interface AgentTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly source: ToolSource;
}

type ToolSource =
  | { readonly kind: 'report'; readonly report: SavedReport }
  /** With `isFile`, the document asks for all lines of a report and for nothing else. */
  | { readonly kind: 'document'; readonly query: string; readonly isFile: boolean; readonly pageInfos: ReadonlySet<string> };

interface ToolParts {
  readonly savedReports: SavedReportService;
  /** The texts of the trusted documents. */
  readonly documents: readonly string[];
  readonly queries: QueryReader;
}

/** The tools of the agents of each organization. */
export class AgentTools {
  private readonly ofDocuments: readonly AgentTool[];

  constructor(private readonly parts: ToolParts) {
    this.ofDocuments = toDocumentTools(parts);
  }

  /** The tool of a name, for a caller whose list has it. Throws an AppError. */
  async find(name: string, { access }: RequestContext): Promise<AgentTool | undefined> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    const ofDocument = this.ofDocuments.find((each) => each.name === name);
    if (ofDocument || !mayReadDonors || !name.startsWith(REPORT)) return ofDocument;
    access.openDonorData();
    const { savedReports } = this.parts;
    const named = await savedReports.find(organization.id, name.slice(REPORT.length));
    if (named && toReportName(named) === name) return this.toReportTool(named);
    const isHashed = name.length >= MAX_NAME_LENGTH - 1;
    const report = isHashed && (await savedReports.list(organization.id)).find((each) => toReportName(each) === name);
    return report ? this.toReportTool(report) : undefined;
  }

  /**
   * The tools of the caller's organization: those of documents, and those of saved reports by name. Saved reports are for callers with the
   * privilege of the report, as their list in GraphQL is: a title may have a donor's name. A page begins after the tool of a name;
   * undefined where there is no tool of that name. Throws an AppError.
   */
  async list({ access }: RequestContext, after?: string): Promise<ToolPage | undefined> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    if (mayReadDonors) access.openDonorData();
    const reports = mayReadDonors ? await this.parts.savedReports.list(organization.id) : [];
    const sources = [
      ...this.ofDocuments.map((tool) => ({ name: tool.name, make: (): AgentTool | undefined => tool })),
      ...reports.map((report) => ({ name: toReportName(report), make: () => this.toReportTool(report) })),
    ];
    const before = after === undefined ? -1 : sources.findIndex(({ name }) => name === after);
    if (after !== undefined && before === -1) return undefined;
    const tools: AgentTool[] = [];
    let left = PAGE_CHARACTERS;
    for (const { make } of sources.slice(before + 1)) {
      if (left <= 0) return { tools, next: tools.at(-1)!.name };
      const tool = make();
      if (!tool) continue;
      tools.push(tool);
      left -= JSON.stringify(tool.input).length + TOOL_CHARACTERS;
    }
    return { tools };
  }

  private toReportTool(report: SavedReport): AgentTool | undefined {
    const { title, query, variables, period } = report;
    const facts = this.parts.queries.facts(query);
    if (!facts) return undefined;
    const input = withValues(facts.input, [...Object.keys(variables), ...(period === null ? [] : REPORT_DATES)]);
    const takesPeriod = REPORT_DATES.every((date) => Object.hasOwn(input.properties, date));
    return {
      name: toReportName(report),
      title,
      description: `The saved report ${JSON.stringify(title)}: its totals, its first rows, and a link to the file with all of them. Values that are not given are those that were saved.`,
      input: takesPeriod ? withPeriod(input) : input,
      source: { kind: 'report', report },
    };
  }
}

const toReportName = ({ name }: SavedReport): string =>
  toToolName('report', name, REPORT.length + name.length > MAX_NAME_LENGTH ? name : undefined);

function toDocumentTools({ documents, queries }: ToolParts): AgentTool[] {
  const found = documents.flatMap((query) => {
    const facts = queries.facts(query);
    const isStream = facts?.fields.includes(STREAM) ?? false;
    // A file has one report, and an answer with a stream beside other fields has no end that is known before.
    return !facts || (isStream && facts.fields.length > 1) ? [] : [{ query, facts, isFile: isStream }];
  });
  const names = new Set<string>();
  return found.map(({ query, isFile, facts: { name, fields, pageInfos, input } }) => {
    // The first document of a name keeps it, whatever others come later.
    const isUnclear = name === '' || names.has(name) || name.length + 'query_'.length > MAX_NAME_LENGTH;
    names.add(name);
    return {
      name: toToolName('query', name, isUnclear ? query : undefined),
      title: name === '' ? 'Trusted document' : name,
      description: `${name === '' ? 'A trusted document' : `The trusted document ${name}`}, which asks for ${[...new Set(fields)].join(', ')}.`,
      input,
      source: { kind: 'document', query, isFile, pageInfos },
    };
  });
}

/** The name of a tool. The hash of its `identity`, where given, tells it apart, and stays the same whatever other tools there are. */
function toToolName(kind: string, name: string, identity: string | undefined): string {
  if (identity === undefined) return `${kind}_${name}`;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, HASH_LENGTH);
  const start = `${kind}_${name}`.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1).replace(/_$/, '');
  return `${start}_${hash}`;
}
