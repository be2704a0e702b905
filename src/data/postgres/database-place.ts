import { resolve } from 'node:path';
import { Client } from 'pg';

/** The database that a command or a gateway uses, as operators are told of it: without a password and the parameters of its address. */
export type DatabasePlace =
  | { readonly kind: 'embedded'; readonly directory: string }
  | {
      readonly kind: 'postgresql';
      readonly name: string;
      readonly host: string;
      readonly port: number;
      readonly role: string;
    };

/** The place of the database that an address leads to, with all that pg adds to it; of the embedded one in a directory without an address. */
export function toPlace(connectionString: string, dataDirectory: string): DatabasePlace {
  if (connectionString === '') return { kind: 'embedded', directory: resolve(dataDirectory) };
  const { database = '', host, port, user = '' } = new Client({ connectionString });
  return { kind: 'postgresql', name: database, host, port, role: user };
}

export function describePlace(place: DatabasePlace): string {
  if (place.kind === 'embedded') return `embedded, in ${place.directory}`;
  const { name, host, port, role } = place;
  return `${name} at ${host.includes(':') ? `[${host}]` : host}:${port}, as role ${role}`;
}
