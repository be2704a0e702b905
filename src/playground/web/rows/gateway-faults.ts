import { transferHandlers } from 'comlink';
import { GatewayError } from '../session/gateway-client';

/** The code of a GatewayError for what was stopped, by a button or by something newer. */
const STOPPED = 'STOPPED';

export const createStopped = (): GatewayError => new GatewayError('This was stopped.', { code: STOPPED });

/** True for the error of what was stopped, which needs no message on the page. */
export const isStopped = (error: unknown): boolean => error instanceof GatewayError && error.code === STOPPED;

/** The error of a script that cannot be loaded, as after an update of the gateway, and of a worker that has ended. */
export const createOutdated = (cause?: unknown): GatewayError =>
  new GatewayError('The page is older than the gateway, or its worker has failed. Reload the page.', { cause });

interface Serialized {
  readonly isError: boolean;
  readonly value: unknown;
}

/** Lets a GatewayError keep its code between a worker and the page, which Comlink drops. Both sides call this once. */
export function passGatewayErrors(): void {
  const plain = transferHandlers.get('throw');
  if (!plain) throw new Error('Comlink has no handler for errors.');
  transferHandlers.set('throw', {
    canHandle: (value): value is unknown => plain.canHandle(value),
    serialize: (thrown) => {
      const [serialized, transfers] = plain.serialize(thrown) as [Serialized, Transferable[]];
      const { value } = thrown as { readonly value: unknown };
      if (!(value instanceof GatewayError)) return [serialized, transfers];
      return [{ isError: false, value: { gatewayMessage: value.message, gatewayCode: value.code } }, transfers];
    },
    deserialize: (serialized: unknown) => {
      const { value } = serialized as Serialized;
      if (isGatewayFault(value)) throw new GatewayError(value.gatewayMessage, { code: value.gatewayCode });
      return plain.deserialize(serialized);
    },
  });
}

interface GatewayFault {
  readonly gatewayMessage: string;
  readonly gatewayCode: string | undefined;
}

const isGatewayFault = (value: unknown): value is GatewayFault => typeof value === 'object' && value !== null && 'gatewayMessage' in value;
