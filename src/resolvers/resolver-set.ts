import type { ClassType } from 'type-graphql';
import type { AuditService } from '../domain/audit-service';
import type { BookService } from '../domain/book-service';
import type { DepositDetailService } from '../domain/deposit-detail-service';
import type { DepositSummaryService } from '../domain/deposit-summary-service';
import type { LinkService } from '../domain/link-service';
import type { SavedReportService } from '../domain/saved-report-service';
import type { SessionService } from '../domain/session-service';
import { AllocationResolver } from './allocation-resolver';
import { AuditRecordResolver } from './audit-record-resolver';
import { AuthenticationResolver } from './authentication-resolver';
import { DepositDetailResolver } from './deposit-detail-resolver';
import { DepositResolver } from './deposit-resolver';
import { DepositSummaryResolver, SummaryTotalsResolver } from './deposit-summary-resolver';
import { DesignationResolver } from './designation-resolver';
import { DataVersionResolver } from './data-version-resolver';
import { DonorResolver } from './donor-resolver';
import { ErrorCodeResolver } from './error-code-resolver';
import { LineRecordResolver } from './line-record-resolver';
import { NodeResolver } from './node-resolver';
import { ProvisionResolver } from './provision-resolver';
import { SavedReportResolver } from './saved-report-resolver';
import { TransactionResolver } from './transaction-resolver';
import { ViewerResolver } from './viewer-resolver';

interface ResolverServices {
  readonly audit: AuditService;
  readonly depositDetails: DepositDetailService;
  readonly books: BookService;
  readonly depositSummaries: DepositSummaryService;
  readonly links: LinkService;
  readonly savedReports: SavedReportService;
  readonly sessions: SessionService;
}

/** One instance of each resolver. The v2 door and GraphQL call the same instances. */
export type ResolverSet = ReturnType<typeof createResolvers>;

export function createResolvers({ audit, books, depositDetails, depositSummaries, links, savedReports, sessions }: ResolverServices) {
  return {
    auditRecords: new AuditRecordResolver(audit),
    authentication: new AuthenticationResolver(),
    depositDetails: new DepositDetailResolver(depositDetails, depositSummaries),
    lineRecords: new LineRecordResolver(),
    depositSummary: new DepositSummaryResolver(depositSummaries),
    summaryTotals: new SummaryTotalsResolver(),
    deposit: new DepositResolver(),
    transaction: new TransactionResolver(),
    allocation: new AllocationResolver(),
    designation: new DesignationResolver(),
    dataVersions: new DataVersionResolver(books),
    donor: new DonorResolver(),
    errorCodes: new ErrorCodeResolver(),
    nodes: new NodeResolver(savedReports),
    provision: new ProvisionResolver(),
    savedReports: new SavedReportResolver(savedReports, depositSummaries, links),
    viewer: new ViewerResolver(sessions),
  };
}

/** The class of each resolver, for building a schema without instances. */
export const resolverClasses: Readonly<Record<keyof ResolverSet, ClassType>> = {
  auditRecords: AuditRecordResolver,
  authentication: AuthenticationResolver,
  depositDetails: DepositDetailResolver,
  lineRecords: LineRecordResolver,
  depositSummary: DepositSummaryResolver,
  summaryTotals: SummaryTotalsResolver,
  deposit: DepositResolver,
  transaction: TransactionResolver,
  allocation: AllocationResolver,
  designation: DesignationResolver,
  dataVersions: DataVersionResolver,
  donor: DonorResolver,
  errorCodes: ErrorCodeResolver,
  nodes: NodeResolver,
  provision: ProvisionResolver,
  savedReports: SavedReportResolver,
  viewer: ViewerResolver,
};
