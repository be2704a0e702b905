/** The organization whose books the questions are about. */
export const ORGANIZATION = 'Harbor Mission';
/** The privilege of donors' data. */
export const V2_REPORT = 'deposit_detail_designation_detail_with_contact_info';

const YEAR = 'start_date=2024-01-01&end_date=2024-12-31';
const ALL = `${YEAR}&include_pending=true`;
export const REPORT_PATH = `/api/v2/${V2_REPORT}?${YEAR}`;
/** The file that the release exported. */
export const EXPORT = { path: `/export/deposit-details.csv?${ALL}`, file: 'exported.csv' } as const;
/** Columns are named, because a later release may add some to `all`. */
const COLUMNS = `columns=deposit_id,deposit_status,transaction_id,allocation_id,donor_id,donor_last_name,amount,fee_amount,allocation_amount,allocation_amount_inferred,late`;
const CHANGE_COLUMNS = `columns=class,changed_columns,before_allocation_id,before_amount,after_allocation_id,after_amount,effect_transaction_amount`;

const LINE = `depositId transactionDate depositDate transactionId allocationId donorId donorFirstName donorLastName address1 address2 address3 city
  state zip phone emailAddress amount feeAmount netAmount status accountType paymentType designationId designation designationMemo mainMemo
  depositStatus allocationAmount allocationAmountInferred late`;
const PERIOD = 'startDate: "2024-01-01", endDate: "2024-12-31"';
const AMOUNTS = '{ amount feeAmount netAmount }';
const TOTALS = `{ lines transactions deposits donors splitTransactions byLine ${AMOUNTS} byTransaction ${AMOUNTS}
  byAllocation { amount known inferred unknown } }`;
const VERSION = `number cause recordedAt isKept lines transactions amount feeAmount linesAdded linesChanged linesRemoved fileName fileSha256`;

/** The query of a saved report. */
export const SAVED_QUERY = `query ($startDate: LocalDate!, $endDate: LocalDate!) {
  depositDetails(startDate: $startDate, endDate: $endDate) { ${LINE} }
}`;

const of = ['--organization', ORGANIZATION] as const;

/** Questions on the command line, in an order in which none changes the answer of a later one. */
export const commands: Readonly<Record<string, readonly string[]>> = {
  organizations: ['organization', 'list'],
  provisions: ['provision', 'list'],
  users: ['user', 'list', ...of],
  webhooks: ['webhook', 'list', ...of],
  reports: ['report', 'list', ...of],
  closes: ['period', 'list', ...of],
  'erased-donors': ['donor', 'erased', ...of],
  usage: ['usage', ...of, '--days', '36500'],
  'audit-of-files': ['audit', 'list', ...of, '--kind', 'file'],
  'audit-of-logins': ['audit', 'list', ...of, '--kind', 'login'],
};

/** Questions by GET. */
export const paths: Readonly<Record<string, string>> = {
  'v2-report': REPORT_PATH,
  'v2-report-with-pending': `/api/v2/${V2_REPORT}?${ALL}`,
  'lines.csv': EXPORT.path,
  ...Object.fromEntries(
    [1, 3, 7].map((version) => [`lines-as-of-${version}.ndjson`, `/export/deposit-details.ndjson?${ALL}&${COLUMNS}&as_of=${version}`]),
  ),
  'money.csv': `/export/deposit-details.csv?${ALL}&columns=money`,
  'summary.csv': `/export/deposit-summary.csv?${ALL}&group_by=DESIGNATION&group_by=MONTH&columns=designation_id,designation,month,lines,line_amount,allocation_amount`,
  'changes.ndjson': `/export/deposit-changes.ndjson?${ALL}&from=1&${CHANGE_COLUMNS}`,
  'saved-report.csv': '/reports/first-half.csv',
};

/** Questions in GraphQL. */
export const operations: Readonly<Record<string, string>> = {
  stream: `{ depositDetails(${PERIOD}, includePending: true) { ${LINE} } }`,
  page: `{ depositDetailsConnection(${PERIOD}, pending: WITH, first: 20) { totalCount pageInfo { endCursor hasNextPage } nodes {
    ${LINE} donor { id lastName } fund { id name } transaction { id allocations { nodes { id } } }
    } summary(groupBy: [DONOR]) { digest moneyDigest all ${TOTALS} } } }`,
  versions: `{ closedThrough history { earliest { number } latest { number } } dataVersions { nodes { ${VERSION} } } }`,
  summaries: `{ ${[1, 2, 3, 4, 6]
    .map(
      (version) =>
        `v${version}: depositSummary(${PERIOD}, pending: WITH, asOf: { version: ${version} }) { digest moneyDigest dataVersion { number } posted ${TOTALS} pending ${TOTALS} }`,
    )
    .join(' ')} }`,
  closes: `{ periodCloses { nodes { version through closedAt closedBy note reopenedVersion reopenedAt reopenedBy reopenReason
    months { startDate endDate lines transactions deposits lineAmount transactionAmount allocationAmount unknownAllocations digest moneyDigest } } } }`,
  changes: `{ depositChanges(${PERIOD}, pending: WITH, from: { version: 1 }, first: 200) { nodes { class columns wasInside isInside
    before { ${LINE} } after { ${LINE} } effect { lines transactions deposits } } } }`,
};
