import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../src/errors';
import type { Services } from '../../src/services';
import type { BookModel, Outcome } from './book-model';
import { describeStep, nextStep, USUAL, type Chance, type Step } from './book-steps';
import { importLines, type TestOrganization } from './gateway';

/** The books of an organization, and the model that says what they must be. */
export interface History {
  readonly services: Services;
  readonly organization: TestOrganization;
  readonly model: BookModel;
}

/** Takes the next step of a history in the books and in the model. Throws where the books answer in another way than the model. */
export async function takeStep(history: History, chance: Chance, choice = USUAL): Promise<Step> {
  const step = nextStep(history.model, chance, choice);
  const found = await answer(history, step);
  const expected = foretell(history.model, step);
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${describeStep(step)}\nwas answered with ${JSON.stringify(found)}\nin the place of ${JSON.stringify(expected)}`);
  return step;
}

type Answer = Outcome | { readonly version: number | null };
const calendarOf = ({ organization: { id } }: History) => ({ id, timeZone: 'UTC', fiscalYearStart: 1 });

/** Takes the step in the books. */
async function answer(history: History, step: Step): Promise<Answer> {
  const { services, organization } = history;
  switch (step.kind) {
    case 'close': {
      const { version } = await services.periods.close(calendarOf(history), step.through, undefined, { name: 'ada' });
      return { version };
    }
    case 'reopen': {
      const { version } = await services.periods.reopen(organization.id, step.through, 'Corrections', { name: 'ada' });
      return { version };
    }
    case 'import':
      return importFile(history, step);
    // No command does these two yet. A donor is erased by its number, and states are dropped before the instant of the version.
    case 'erase':
    case 'prune':
      throw new Error(`No service can ${step.kind}`);
  }
}

async function importFile({ services, organization }: History, { file, rules }: Step & { kind: 'import' }): Promise<Outcome> {
  const { range: complete, ...rest } = rules;
  try {
    const { version, late } = await importLines(services, organization, file, { ...rest, complete, maxRemoved: Infinity });
    return { refusal: undefined, version, late };
  } catch (error) {
    return { refusal: error instanceof AppError ? error.fault! : (error as Error).message };
  }
}

/** Takes the step in the model, which says how the books must answer. */
function foretell(model: BookModel, step: Step): Answer {
  if (step.kind === 'import') return model.import(step.file, step.rules);
  if (step.kind === 'close') model.close(step.through);
  if (step.kind === 'reopen') model.reopen(step.through);
  if (step.kind === 'erase') model.erase(step.donor);
  if (step.kind === 'prune') return { version: model.prune(step.earliest) };
  return { version: model.version };
}
