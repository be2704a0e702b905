import type { ClassType } from 'type-graphql';
import type { AuditService } from '../domain/audit/audit-service';
import type { BookService } from '../domain/books/book-service';
import type { PeriodService } from '../domain/reports/period-service';
import type { DepositChangeService } from '../domain/reports/deposit-change-service';
import type { DepositDetailService } from '../domain/reports/deposit-detail-service';
import type { DepositSummaryService } from '../domain/reports/deposit-summary-service';
import type { FundBudgetService } from '../domain/reports/fund-budget-service';
import type { JournalAccountService } from '../domain/reports/journal-account-service';
import type { LinkService } from '../domain/access/link-service';
import type { SavedReportService } from '../domain/reports/saved-report-service';
import type { ScheduleService } from '../domain/mail/schedule-service';
import type { SessionService } from '../domain/access/session-service';
import { AllocationResolver } from './books/allocation-resolver';
import { AuditRecordResolver } from './audit/audit-record-resolver';
import { AuthenticationResolver } from './access/authentication-resolver';
import { DepositChangeResolver } from './reports/deposit-change-resolver';
import { DepositDetailResolver } from './reports/deposit-detail-resolver';
import { DepositResolver } from './books/deposit-resolver';
import { DepositSummaryResolver, SummaryTotalsResolver } from './reports/deposit-summary-resolver';
import { DesignationResolver } from './books/designation-resolver';
import { DataVersionResolver } from './books/data-version-resolver';
import { DonorResolver } from './books/donor-resolver';
import { ErrorCodeResolver } from './error-code-resolver';
import { FundBudgetResolver } from './reports/fund-budget-resolver';
import { JournalAccountResolver } from './reports/journal-account-resolver';
import { LineRecordResolver } from './reports/line-record-resolver';
import { NodeResolver } from './node-resolver';
import { ClosedMonthResolver, PeriodCloseResolver } from './books/period-close-resolver';
import { ProvisionResolver } from './access/provision-resolver';
import { ReportScheduleResolver } from './reports/report-schedule-resolver';
import { SavedReportResolver } from './reports/saved-report-resolver';
import { TransactionResolver } from './books/transaction-resolver';
import { ViewerResolver } from './access/viewer-resolver';

interface ResolverServices {
  readonly audit: AuditService;
  readonly depositChanges: DepositChangeService;
  readonly depositDetails: DepositDetailService;
  readonly books: BookService;
  readonly depositSummaries: DepositSummaryService;
  readonly fundBudgets: FundBudgetService;
  readonly journalAccounts: JournalAccountService;
  readonly links: LinkService;
  readonly periods: PeriodService;
  readonly savedReports: SavedReportService;
  readonly schedules: ScheduleService;
  readonly sessions: SessionService;
}

/** One instance of each resolver. The v2 door and GraphQL call the same instances. */
export type ResolverSet = ReturnType<typeof createResolvers>;

export function createResolvers({
  audit,
  books,
  depositChanges,
  depositDetails,
  depositSummaries,
  fundBudgets,
  journalAccounts,
  links,
  periods,
  savedReports,
  schedules,
  sessions,
}: ResolverServices) {
  return {
    auditRecords: new AuditRecordResolver(audit),
    authentication: new AuthenticationResolver(),
    depositChanges: new DepositChangeResolver(depositChanges, depositSummaries, books),
    depositDetails: new DepositDetailResolver(depositDetails, depositSummaries, books),
    fundBudgets: new FundBudgetResolver(fundBudgets),
    journalAccounts: new JournalAccountResolver(journalAccounts),
    lineRecords: new LineRecordResolver(),
    depositSummary: new DepositSummaryResolver(depositSummaries, books),
    summaryTotals: new SummaryTotalsResolver(),
    deposit: new DepositResolver(),
    transaction: new TransactionResolver(),
    allocation: new AllocationResolver(),
    designation: new DesignationResolver(),
    dataVersions: new DataVersionResolver(books),
    donor: new DonorResolver(),
    errorCodes: new ErrorCodeResolver(),
    nodes: new NodeResolver(savedReports),
    closedMonths: new ClosedMonthResolver(),
    periodCloses: new PeriodCloseResolver(periods, books),
    provision: new ProvisionResolver(),
    savedReports: new SavedReportResolver(savedReports, depositSummaries, links, books),
    reportSchedules: new ReportScheduleResolver(schedules),
    viewer: new ViewerResolver(sessions),
  };
}

/** The class of each resolver, for building a schema without instances. */
export const resolverClasses: Readonly<Record<keyof ResolverSet, ClassType>> = {
  auditRecords: AuditRecordResolver,
  authentication: AuthenticationResolver,
  depositChanges: DepositChangeResolver,
  depositDetails: DepositDetailResolver,
  fundBudgets: FundBudgetResolver,
  journalAccounts: JournalAccountResolver,
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
  closedMonths: ClosedMonthResolver,
  periodCloses: PeriodCloseResolver,
  provision: ProvisionResolver,
  savedReports: SavedReportResolver,
  reportSchedules: ReportScheduleResolver,
  viewer: ViewerResolver,
};
