import type { SavedReport, SavedReportStore } from '../data/saved-report-store';
import { AppError, InputError } from '../errors';
import { fileOptionNames, type FileQuery } from '../formats/file-address';

/** A GraphQL query and the values of its variables. */
export interface ReportDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What this service asks of a query; whoever has the schema answers. Both throw INVALID_PARAMETERS that names what is wrong. */
export interface ReportDocuments {
  toFileQuery(document: ReportDocument): FileQuery;
  variableNames(query: string): readonly string[];
}

/** How many an organization may have. */
export const MAX_SAVED_REPORTS = 500;
const MAX_LENGTH = 30_000;
/** All of them are one answer. */
const MAX_ALL_LENGTH = 1_000_000;
/** A name stands in an address as it is. */
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 80;

/** Queries with names, by which an organization's files keep their addresses. */
export class SavedReportService {
  constructor(private readonly store: SavedReportStore) {}

  list(organizationId: number): Promise<SavedReport[]> {
    return this.store.list(organizationId);
  }

  /** Throws NOT_FOUND where there is none of this name. */
  async get(organizationId: number, name: string): Promise<SavedReport> {
    const report = NAME.test(name) ? await this.store.find(organizationId, name) : null;
    if (!report) throw new AppError('NOT_FOUND');
    return report;
  }

  /** Takes the place of an earlier report of this name. Throws INVALID_PARAMETERS that names what is wrong. */
  async save(
    organizationId: number,
    { name, ...report }: ReportDocument & { readonly name: string; readonly updatedBy: string | null },
    documents: ReportDocuments,
  ): Promise<SavedReport> {
    if (!NAME.test(name) || name.length > MAX_NAME_LENGTH) {
      throw new InputError(`name must be small letters and digits, parted by single hyphens, at most ${MAX_NAME_LENGTH} characters`);
    }
    const { query, variables } = report;
    const length = toText('query', query).length + toJson(variables).length;
    if (length > MAX_LENGTH) throw new InputError(`query and variables are longer than ${MAX_LENGTH} characters together`);
    const names = documents.variableNames(query);
    const unknown = Object.keys(variables).find((variable) => !names.includes(variable));
    if (unknown !== undefined) throw new InputError(`variables: the query has no $${unknown}`);
    const taken = names.find((variable) => fileOptionNames.includes(variable));
    if (taken !== undefined) throw new InputError(`query: the variable $${taken} would be taken for an option of the file`);
    documents.toFileQuery({ query, variables });
    const others = await this.store.measureOthers(organizationId, name);
    if (others.count >= MAX_SAVED_REPORTS || others.length + length > MAX_ALL_LENGTH) {
      throw new InputError(`there are ${others.count} reports of ${others.length} characters already; delete one first`);
    }
    return this.store.put(organizationId, { name, ...report });
  }

  /** Throws NOT_FOUND where there is none of this name. */
  async delete(organizationId: number, name: string): Promise<void> {
    if (!NAME.test(name) || !(await this.store.delete(organizationId, name))) throw new AppError('NOT_FOUND');
  }
}

/** Throws INVALID_PARAMETERS for what the database would not take. */
function toJson(variables: unknown): string {
  try {
    return JSON.stringify(variables, (key, value: unknown) => {
      toText('variables', key);
      return typeof value === 'string' ? toText('variables', value) : value;
    });
  } catch (error) {
    if (error instanceof RangeError) throw new InputError('variables are nested too deeply');
    throw error;
  }
}

function toText(name: string, text: string): string {
  if (text.includes('\0')) throw new InputError(`${name} has a NUL character`);
  if (!text.isWellFormed()) throw new InputError(`${name} has half of a character`);
  return text;
}
