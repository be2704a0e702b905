import { Command } from 'commander';
import { printSchemaText } from '../../graphql/schema';
import type { CommandContext } from '../command';
import { printResult } from '../terminal';

/** `schema`: prints the GraphQL schema for code generators. It needs no database. */
export function schemaCommand(context: () => CommandContext): Command {
  return new Command('schema').action(() => {
    const { terminal, json } = context();
    const schema = printSchemaText();
    if (json) printResult(terminal, json, { schema }, '');
    else terminal.output.write(schema);
  });
}
