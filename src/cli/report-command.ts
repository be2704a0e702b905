import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../errors';
import { findJsonFault } from '../formats/json-fault';
import { createSchema } from '../graphql/schema';
import { ReportReader } from '../resolvers/report-reader';
import { withServices, type CommandContext } from './command';
import { formatTable, printResult } from './terminal';

interface SaveOptions {
  readonly organization: string;
  readonly variables: Record<string, unknown>;
}

/** `report list | save | delete`: queries with names, served at /reports/NAME. */
export function reportCommand(context: () => CommandContext): Command {
  const command = new Command('report').description('the saved reports of an organization, served at /reports/NAME.csv');
  command
    .command('list')
    .requiredOption('--organization <name>')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const reports = await withServices(context(), async ({ organizations, savedReports }) =>
        savedReports.list((await organizations.get(organization)).id),
      );
      const rows = reports.map(({ name, updatedAt, updatedBy, variables }) => [
        name,
        updatedAt.toISOString(),
        updatedBy ?? 'command line',
        JSON.stringify(variables),
      ]);
      printResult(terminal, json, reports, formatTable(['NAME', 'SAVED', 'BY', 'VARIABLES'], rows));
    });
  command
    .command('save')
    .argument('<name>', 'small letters and digits, parted by hyphens')
    .argument('<file>', 'a GraphQL query for lines or a summary of them')
    .requiredOption('--organization <name>')
    .option('--variables <json>', "values of the query's variables", readVariables, {})
    .action(async (name: string, file: string, { organization, variables }: SaveOptions) => {
      const { terminal, json } = context();
      const query = await readFile(file, 'utf8').catch((error: unknown) => {
        throw new OperatorError(`Cannot read ${file}`, { cause: error });
      });
      const report = await withServices(context(), async ({ organizations, savedReports }) => {
        const { id } = await organizations.get(organization);
        return savedReports.save(id, { name, query, variables, updatedBy: null }, new ReportReader(createSchema()));
      });
      printResult(terminal, json, report, `Saved report "${name}": /reports/${name}.csv`);
    });
  command
    .command('delete')
    .argument('<name>')
    .requiredOption('--organization <name>')
    .action(async (name: string, { organization }: { organization: string }) => {
      const { terminal, json } = context();
      await withServices(context(), async ({ organizations, savedReports }) =>
        savedReports.delete((await organizations.get(organization)).id, name),
      );
      printResult(terminal, json, { name }, `Deleted report "${name}"`);
    });
  return command;
}

function readVariables(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidArgumentError('It is a JSON object.');
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's own message quotes the text, which may be of persons.
    throw new InvalidArgumentError(`It ${findJsonFault(text) ?? String(error)}.`);
  }
}
