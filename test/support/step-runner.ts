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
    case 'erase': {
      const erasure = { donorId: step.donor, reason: 'Asked', erasedBy: 'ada', isTrial: false };
      return { version: (await services.erasures.erase(organization.id, erasure)).erased?.version ?? null };
    }
    case 'prune': {
      const versions = await services.books.newestVersions(organization.id, 1000);
      const { recordedAt } = versions.find(({ number }) => number === step.earliest)!;
      return { version: (await services.history.prune(calendarOf(history), recordedAt, false)).version };
    }
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
