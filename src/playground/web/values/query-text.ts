/** The longest line of a field with its arguments, as graphql-js prints it. */
const MAX_LINE = 80;
const INDENT = '  ';

/** A query by the paths of its fields, such as `depositSummary.all.transactions`. */
interface QueryParts {
  readonly name: string;
  /** The declarations of the variables, such as `$first: Int = 50`. */
  readonly variables: readonly string[];
  /** The arguments of fields by their paths, such as `first: $first`. */
  readonly args: Readonly<Record<string, readonly string[]>>;
  readonly paths: readonly string[];
}

interface Field {
  readonly name: string;
  readonly path: string;
  readonly fields: Field[];
}

/** Writes a query as graphql-js prints it, whose library would be a tenth of the page's script. A test compares the two. */
export function toQueryText({ name, variables, args, paths }: QueryParts): string {
  const root: Field = { name: '', path: '', fields: [] };
  for (const path of paths) {
    let parent = root;
    for (const name of path.split('.')) {
      let field = parent.fields.find((each) => each.name === name);
      if (!field) {
        field = { name, path: parent === root ? name : `${parent.path}.${name}`, fields: [] };
        parent.fields.push(field);
      }
      parent = field;
    }
  }
  const declared = variables.length > 0 ? `(${variables.join(', ')})` : '';
  return `query ${name}${declared} ${toBlock(root.fields, args, '')}`;
}

function toBlock(fields: readonly Field[], args: QueryParts['args'], indent: string): string {
  const inner = indent + INDENT;
  const lines = fields.map((field) => {
    const given = args[field.path] ?? [];
    const line = given.length > 0 ? `${field.name}(${given.join(', ')})` : field.name;
    const split = [`${field.name}(`, ...given.map((each) => inner + INDENT + each), `${inner})`].join('\n');
    const block = field.fields.length > 0 ? ` ${toBlock(field.fields, args, inner)}` : '';
    return inner + (line.length > MAX_LINE ? split : line) + block;
  });
  return ['{', ...lines, `${indent}}`].join('\n');
}
