import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { createCellFormat } from '../values/cell-format';
import type { ShownColumn } from './column-layout';
import type { Row } from '../values/table-types';

interface RowSheetProps {
  readonly row: Row | undefined;
  /** The columns of the table, those without room on a narrow screen too. */
  readonly columns: readonly ShownColumn[];
  /** The name of what the row opens; undefined for a row that leads nowhere. */
  readonly openName: string | undefined;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** All cells of a row of which a narrow screen shows three, at the bottom of the screen. */
export function RowSheet({ row, columns, openName, onOpen, onClose }: RowSheetProps) {
  const { cell } = createCellFormat(navigator.languages);
  const texts = row ? columns.map(({ column, place }) => ({ column, text: cell(row[place] ?? null, column) })) : [];
  return (
    <ModalOverlay
      className="row-sheet-back"
      isDismissable
      isOpen={row !== undefined}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className="row-sheet">
        <Dialog>
          <Heading slot="title">{texts[0]?.text || 'Row'}</Heading>
          <dl>
            {texts.slice(1).map(({ column, text }) => (
              <div key={column.id}>
                <dt>{column.title}</dt>
                <dd className={column.kind}>{text || '–'}</dd>
              </div>
            ))}
          </dl>
          <div className="row-sheet-buttons">
            {openName !== undefined && (
              <button type="button" className="field-button main-button" onClick={onOpen}>
                Open {openName}
              </button>
            )}
            <button type="button" className="field-button" onClick={onClose}>
              Close
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
