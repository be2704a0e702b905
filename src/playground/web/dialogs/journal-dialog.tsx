import { lazy, Suspense } from 'react';
import { Button, DialogTrigger } from 'react-aria-components';
import { FaultBoundary, ReloadButton } from '../look/fault-boundary';
import { ModalDialog } from './modal-dialog';

// Few open it, so that the script of a report does not have it.
const JournalForm = lazy(() => import('./journal-form'));

export interface JournalProps {
  readonly provision: string;
  readonly startDate: string;
  readonly endDate: string;
  /** The past state of the report, as an address has it; undefined for the newest one. */
  readonly asOf: string | undefined;
  /** The time zone in which files are dated. */
  readonly timeZone: string;
  /** True for those who may change the accounts. */
  readonly mayChange: boolean;
}

/** A button, and the dialog in which the deposits of a period are taken as entries for an accounting program. */
export function JournalDialog(props: JournalProps) {
  return (
    <DialogTrigger>
      <Button>Journal…</Button>
      <ModalDialog title="Journal for your accounting program" isWide>
        {(close) => (
          <FaultBoundary part="The journal" wayBack={<ReloadButton />}>
            <Suspense fallback={<p className="note">Loading…</p>}>
              <JournalForm {...props} onDone={close} />
            </Suspense>
          </FaultBoundary>
        )}
      </ModalDialog>
    </DialogTrigger>
  );
}
