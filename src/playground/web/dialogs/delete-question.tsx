import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { ModalDialog } from './modal-dialog';

interface DeleteQuestionProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onKeep: () => void;
  readonly onDelete: () => void;
  /** The consequences, as text. */
  readonly children: ReactNode;
}

/** Asks before something is deleted. */
export function DeleteQuestion({ title, isOpen, onKeep, onDelete, children }: DeleteQuestionProps) {
  return (
    <ModalDialog
      {...{ title, isOpen }}
      role="alertdialog"
      onOpenChange={(isStillOpen) => {
        if (!isStillOpen) onKeep();
      }}
    >
      {(close) => (
        <>
          <p>{children}</p>
          <div className="dialog-buttons">
            <Button className="danger-button" onPress={onDelete}>
              Delete
            </Button>
            <Button autoFocus onPress={close}>
              Keep it
            </Button>
          </div>
        </>
      )}
    </ModalDialog>
  );
}
