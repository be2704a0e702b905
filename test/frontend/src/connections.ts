/** The fields whose pages follow each other in one list, by their types. */
const connections = {
  Query: [
    'depositDetailsConnection',
    'deposits',
    'transactions',
    'allocations',
    'designations',
    'donors',
    'dataVersions',
    'periodCloses',
    'auditRecords',
    'receipts',
  ],
  Deposit: ['transactions'],
  Donor: ['transactions'],
  Transaction: ['allocations'],
  Designation: ['allocations'],
};

/** Gives every connection a cache's policy for lists. */
export const forConnections = <Policy>(policy: Policy): Record<string, Record<string, Policy>> =>
  Object.fromEntries(
    Object.entries(connections).map(([type, fields]) => [type, Object.fromEntries(fields.map((field) => [field, policy]))]),
  );
