import { createHash } from 'node:crypto';
import type { SavedReport } from '../data/reports/saved-report-store';
import type { SavedReportService } from '../domain/reports/saved-report-service';
import { REPORT_DATES } from '../domain/reports/saved-report-service';
import type { RequestContext } from '../resolvers/request/request-context';
import { withPeriod, type ObjectSchema, type QueryFacts } from '../resolvers/reports/variable-schemas';

/** Clients of the Model Context Protocol refuse longer names of tools, or cut them. */
const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;
/** The root field whose answer has all rows, however many they are. */
const STREAM = 'depositDetails';

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
  /** The facts about a query; undefined for a document that is no single query. Variables in `given` need no value. */
  readonly toFacts: (query: string, given?: readonly string[]) => QueryFacts | undefined;
}

/** The tools of the agents of each organization. */
export class AgentTools {
  private readonly ofDocuments: readonly AgentTool[];

  constructor(private readonly parts: ToolParts) {
    this.ofDocuments = toDocumentTools(parts);
  }

  /**
   * The tools of the caller's organization, by name. Saved reports are for callers with the privilege of the report, as their list in GraphQL
   * is: a title may have a donor's name. Throws an AppError.
   */
  async list({ access }: RequestContext): Promise<readonly AgentTool[]> {
    const { organization, mayReadDonors } = await access.authorizeMember();
    if (!mayReadDonors) return this.ofDocuments;
    access.openDonorData();
    const reports = await this.parts.savedReports.list(organization.id);
    return [...this.ofDocuments, ...reports.flatMap((report) => this.toReportTool(report))];
  }

  private toReportTool(report: SavedReport): AgentTool[] {
    const { name, title, query, variables, period } = report;
    const facts = this.parts.toFacts(query, [...Object.keys(variables), ...(period === null ? [] : REPORT_DATES)]);
    if (!facts) return [];
    const takesPeriod = REPORT_DATES.every((date) => Object.hasOwn(facts.input.properties, date));
    return [
      {
        name: toToolName('report', name, name.length + 'report_'.length > MAX_NAME_LENGTH ? name : undefined),
        title,
        description: `The saved report ${JSON.stringify(title)}: its totals, its first rows, and a link to the file with all of them. Values that are not given are those that were saved.`,
        input: takesPeriod ? withPeriod(facts.input) : facts.input,
        source: { kind: 'report', report },
      },
    ];
  }
}

function toDocumentTools({ documents, toFacts }: ToolParts): AgentTool[] {
  const found = documents.flatMap((query) => {
    const facts = toFacts(query);
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
