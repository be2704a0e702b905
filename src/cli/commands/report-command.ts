import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../../errors';
import { JsonFault, readJson } from '../../formats/json-text';
import { createSchema } from '../../graphql/schema';
import { SchemaReportDocuments } from '../../resolvers/reports/report-documents';
import type { PeriodName } from '../../values/periods';
import { withServices, type CommandContext } from '../command';
import { periodOption } from '../command-options';
import { formatTable, printResult, toText } from '../terminal';

interface SaveOptions {
  readonly organization: string;
  readonly variables: Record<string, unknown>;
  readonly title?: string;
  readonly period?: PeriodName;
  readonly replace?: boolean;
}

/** `report list | save | delete`: the saved reports of an organization, whose files are served at /reports/NAME. */
export function reportCommand(context: () => CommandContext): Command {
  const command = new Command('report');
  command
    .command('list')
    .description('lists the saved reports by name')
    .requiredOption('--organization <name>', 'name of the organization')
    .action(async ({ organization }: { organization: string }) => {
      const { terminal, json } = context();
      const reports = await withServices(context(), async ({ organizations, savedReports, audit }) => {
        const { id } = await organizations.get(organization);
        return audit.accompany(audit.operator(id), audit.command('report list'), () => savedReports.list(id));
      });
      const rows = reports.map(({ name, title, updatedAt, updatedBy, period, variables }) => [
        name,
        title,
        updatedAt.toISOString(),
        updatedBy ?? 'command line',
        period ?? '',
        JSON.stringify(variables),
      ]);
      printResult(terminal, json, reports, formatTable(['NAME', 'TITLE', 'SAVED', 'BY', 'PERIOD', 'VARIABLES'], rows));
    });
  command
    .command('save')
    .description('saves a query under a name')
    .argument('<name>', 'lower-case letters and digits with hyphens between them, such as january-2026')
    .argument('<file>', 'file with a GraphQL query for lines or for a summary')
    .requiredOption('--organization <name>', 'name of the organization')
    .option('--variables <json>', 'values of the query\'s variables, such as {"startDate":"2026-01-01"}', readVariables, {})
    .addOption(periodOption('gives $startDate and $endDate their values anew each time, in place of dates in --variables'))
    .option('--title <text>', 'what people call the report; its name when it is not given')
    .option('--replace', 'replaces the report of this name, if there is one')
    .action(async (name: string, file: string, { organization, variables, title, period, replace }: SaveOptions) => {
      const { terminal, json } = context();
      const content = await readFile(file).catch((error: unknown) => {
        throw new OperatorError(`Cannot read ${file}`, { cause: error });
      });
      const query = toText(content, file);
      const report = await withServices(context(), async ({ organizations, savedReports }) => {
        const { id } = await organizations.get(organization);
        const earlier = replace ? await savedReports.find(id, name) : null;
        const given = { name, title, query, variables, period, updatedBy: null, replaces: earlier?.updatedAt };
        return savedReports.save(id, given, new SchemaReportDocuments(createSchema()));
      });
      printResult(terminal, json, report, `Saved report "${name}": /reports/${name}.csv`);
    });
  command
    .command('delete')
    .description('deletes a saved report')
    .argument('<name>', 'name of the report')
    .requiredOption('--organization <name>', 'name of the organization')
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidArgumentError('It must be a JSON object.');
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonFault) throw new InvalidArgumentError(`It ${error.message}.`);
    throw error;
  }
}
