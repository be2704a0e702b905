import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** The classes by which Node's server creates the messages of each exchange. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * Creates classes whose messages are requests and responses of an Express application from the start. Express would otherwise change the
 * prototype of every message. V8 then looks up each of its properties slowly, and frees it late: an answer of two words takes four times as
 * long.
 */
export function createMessageClasses(app: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Message extends IncomingMessage = IncomingMessage> extends ServerResponse<Message> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  // Express gives these prototypes to each message, which has them already.
  app.request = ExpressRequest.prototype as typeof app.request;
  app.response = ExpressResponse.prototype as typeof app.response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
