import { Command } from 'commander';
import { printSchemaText } from '../graphql/schema';
import type { CommandContext } from './command';

/** `schema`: prints the GraphQL schema for code generators. It needs no database. */
export function schemaCommand(context: () => CommandContext): Command {
  return new Command('schema').description('prints the GraphQL schema').action(() => {
    context().terminal.output.write(printSchemaText());
  });
}
