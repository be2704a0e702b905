import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface ModalDialogProps {
  readonly title: string;
  /** `alertdialog` for a question that must be answered: a click beside it does not close it. */
  readonly role?: 'dialog' | 'alertdialog';
  /** A wide dialog is one with a list. */
  readonly isWide?: boolean;
  /** For a dialog without a button of its own. A dialog in a DialogTrigger opens by its button. */
  readonly isOpen?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
  readonly children: (close: () => void) => ReactNode;
}

/** A dialog over the page. Escape closes it, and the focus goes back to the button that opened it. */
export function ModalDialog({ title, role = 'dialog', isWide = false, isOpen, onOpenChange, children }: ModalDialogProps) {
  return (
    <ModalOverlay className="dialog-shade" isDismissable={role === 'dialog'} isOpen={isOpen} onOpenChange={onOpenChange}>
      <Modal className={isWide ? 'dialog-frame dialog-wide' : 'dialog-frame'}>
        <Dialog className="dialog" role={role}>
          {({ close }) => (
            <>
              <Heading slot="title">{title}</Heading>
              {children(close)}
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
