import { OperatorError } from '../../errors';
import { SourceError } from '../../source/source-error';
import type { PeriodDates } from '../../values/periods';
import { ImportError } from '../imports/import-service';

/** The places of imported lines in the answers that they came in. */
export class LinePlaces {
  count = 0;
  private readonly starts: { readonly period: PeriodDates; readonly before: number }[] = [];

  /** Begins an answer. Returns the number of lines before it. */
  begin(period: PeriodDates): number {
    this.starts.push({ period, before: this.count });
    return this.count;
  }

  /** The error of an import as one about the source. */
  inWordsOfSource(error: unknown): unknown {
    if (error instanceof SourceError || !(error instanceof OperatorError)) return error;
    const faults = error instanceof ImportError ? error.faults : [];
    const named = faults.map(({ line, field, reason }) => `${this.find(line)}: ${field} ${this.withPlaces(reason)}`);
    const message = error.message.replace('the file lacks', 'the source lacks');
    return new OperatorError([message, ...named].join('\n'), { cause: error });
  }

  private withPlaces(reason: string): string {
    return reason.replace(/line (\d+)/, (_match, line: string) => this.find(Number(line)));
  }

  private find(line: number): string {
    const { period, before } = this.starts.findLast((start) => start.before < line)!;
    return `${period.startDate} to ${period.endDate}, line ${line - before}`;
  }
}
