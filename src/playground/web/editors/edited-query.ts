import { Kind, parse, print } from 'graphql';
import type { EditorTexts, ReportQuery } from '../files/file-url';

/** Reads the editors' query and variables, and keeps only the named operation. Throws an Error whose message the page shows. */
export function readQuery({ query, variables }: EditorTexts, operationName?: string): ReportQuery {
  const operation = selectOperation(query, operationName);
  if (variables.trim() === '') return { query: operation, variables: {} };
  try {
    return { query: operation, variables: JSON.parse(variables) as unknown };
  } catch (cause) {
    throw new Error('The variables cannot be read: they must be JSON, without comments.', { cause });
  }
}

/** Removes all operations but the named one. Returns the text unchanged when it has no such operation or cannot be parsed. */
export function selectOperation(query: string, operationName: string | null | undefined): string {
  if (!operationName) return query;
  try {
    const document = parse(query);
    const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
    const named = operations.find(({ name }) => name?.value === operationName);
    if (!named || operations.length === 1) return query;
    const fragments = document.definitions.filter((each) => each.kind !== Kind.OPERATION_DEFINITION);
    return print({ ...document, definitions: [named, ...fragments] });
  } catch {
    // The gateway answers with the syntax error.
    return query;
  }
}
