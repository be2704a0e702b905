import { chosenColumns, columnsOf, reportOf, type FileQuery } from '../formats/file-address';
import { groupBys, groupColumns, groupsTellDonors, type GroupBy } from '../formats/line-groups';
import { isLineName, lineFields, lineNames, type FieldType } from '../line/line-fields';
import { createJsonTemplate, type JsonMember, type RowColumn, type RowTemplate } from '../rows/row-template';
import { LINES_SET, reportOfSet, setOfGroups, toPropertyName } from '../values/feed-names';
import { summaryAmounts, summaryGiftDates, summaryParts, summaryShares } from '../values/figure-names';
import { findFilterForm } from './odata-conditions';

type EdmType = 'Edm.String' | 'Edm.Int64' | 'Edm.Decimal' | 'Edm.Date' | 'Edm.Boolean';

/** A property of an entity. `column` is its name in files, and undefined for the key of an entity that stands alone. */
export interface Property {
  readonly name: string;
  readonly column: string | undefined;
  readonly type: EdmType;
  readonly isNullable: boolean;
  readonly row: RowColumn | undefined;
}

/** An entity set by its name: the lines, a summary by one grouping, or a saved report. */
export type SetName =
  { readonly kind: 'lines' } | { readonly kind: 'summary'; readonly by: GroupBy } | { readonly kind: 'report'; readonly report: string };

/** An entity set, and the lines or groups that it is of. */
export interface EntitySet {
  readonly name: string;
  readonly query: FileQuery;
}

/** The key of the only entity of a summary without groups. */
const ONLY: Property = { name: 'row', column: undefined, type: 'Edm.String', isNullable: false, row: undefined };
const ONLY_VALUE = 'total';

const GROUPINGS: ReadonlyMap<string, GroupBy> = new Map(groupBys.map((by) => [setOfGroups(by), by]));

/** The set of a name; undefined for no name of a set. A saved report may not be there. */
export function parseSetName(name: string): SetName | undefined {
  const by = GROUPINGS.get(name);
  if (by) return { kind: 'summary', by };
  const report = reportOfSet(name);
  if (report !== undefined) return { kind: 'report', report };
  return name === LINES_SET ? { kind: 'lines' } : undefined;
}

/** The sets beside those of saved reports. A caller who may not read donors has no lines and no groups of donors. */
export const fixedSets = (mayReadDonors: boolean, lines: FileQuery['lines']): EntitySet[] => [
  ...(mayReadDonors ? [{ name: LINES_SET, query: { lines, columns: lineNames } }] : []),
  ...[...GROUPINGS].flatMap(([name, by]) => (mayReadDonors || !groupsTellDonors([by]) ? [{ name, query: { lines, groupBy: [by] } }] : [])),
];

/** True for a query whose rows are entities. Changes and journals have no key. */
export const hasEntities = (query: FileQuery): boolean => ['deposit-details', 'deposit-summary'].includes(reportOf(query));

/** The names of the columns by which entities are told apart. */
const keyColumns = ({ groupBy }: FileQuery): readonly string[] =>
  groupBy ? groupBy.map((by) => groupColumns(by)[0]![0]) : ['allocation_id'];

/** The properties of a query's entities: the key, where the report itself does not show it, and the columns of its file. */
export function propertiesOf(query: FileQuery): { readonly key: readonly Property[]; readonly all: readonly Property[] } {
  const { all } = columnsOf(query);
  const keys = [...new Set(keyColumns(query))];
  const shown = Object.keys(chosenColumns(query));
  const names = [...keys.filter((name) => !shown.includes(name)), ...shown];
  const properties = names.map((name) => toProperty(name, all[name]!));
  if (keys.length === 0) return { key: [ONLY], all: [ONLY, ...properties] };
  return { key: keys.map((name) => properties[names.indexOf(name)]!), all: properties };
}

const LINE_TYPES: Readonly<Record<FieldType, EdmType>> = {
  ...{ id: 'Edm.String', text: 'Edm.String', name: 'Edm.String', code: 'Edm.String', status: 'Edm.String' },
  ...{ number: 'Edm.Int64', date: 'Edm.Date', money: 'Edm.Decimal', boolean: 'Edm.Boolean' },
};
/** The figures of a summary that are no counts, in all its parts. */
const FIGURE_TYPES: Readonly<Record<string, EdmType>> = Object.fromEntries(
  Object.values(summaryParts).flatMap((part) => [
    ...Object.keys({ ...summaryAmounts, ...summaryShares }).map((name) => [part + name, 'Edm.Decimal'] as const),
    ...Object.keys(summaryGiftDates).map((name) => [part + name, 'Edm.Date'] as const),
  ]),
);
const OTHER_TYPES: Readonly<Record<RowColumn['kind'], EdmType>> = {
  ...{ number: 'Edm.Int64', boolean: 'Edm.Boolean', text: 'Edm.Date', nullable: 'Edm.Date' },
};

function toProperty(column: string, row: RowColumn): Property {
  // A summary's allocation_amount is a sum of shares, and a line's is one share: both are amounts.
  const type = isLineName(column) ? LINE_TYPES[lineFields[column].type] : (FIGURE_TYPES[column] ?? OTHER_TYPES[row.kind]);
  // Numbers of donors are null for callers who may not read donors.
  const isNullable = row.kind === 'nullable' || row.kind === 'boolean' || /(?:^|_)donors$/.test(column);
  return { name: toPropertyName(column), column, type, isNullable, row };
}

/**
 * The template of entities as JSON, with these properties. Numbers are JSON numbers of all their digits, and with `isIeee754` texts: a client
 * that asks for these would round a number.
 */
export const toEntityTemplate = (properties: readonly Property[], isIeee754: boolean): RowTemplate =>
  createJsonTemplate(properties.map((property) => toMember(property, isIeee754)));

function toMember({ name, type, isNullable, row }: Property, isIeee754: boolean): JsonMember {
  if (!row) return { key: name, constant: ONLY_VALUE };
  if (type !== 'Edm.Decimal' && type !== 'Edm.Int64') return { key: name, ...row };
  if (isIeee754) return { key: name, ...row, kind: isNullable ? 'nullable' : 'text' };
  // Of the kinds without quotes, that of truth values may be null.
  return { key: name, ...row, kind: isNullable ? 'boolean' : 'number' };
}

const NAMESPACE = 'DepositGateway';
const CAPABILITIES = 'Org.OData.Capabilities.V1';
const VOCABULARY = `https://oasis-tcs.github.io/odata-vocabularies/vocabularies/${CAPABILITIES}.xml`;

/** The document of the sets as XML (CSDL 4.0). Its names have no characters that XML escapes. */
export function toMetadata(sets: readonly EntitySet[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
    `<edmx:Reference Uri="${VOCABULARY}"><edmx:Include Namespace="${CAPABILITIES}" Alias="Capabilities"/></edmx:Reference>`,
    `<edmx:DataServices><Schema Namespace="${NAMESPACE}" xmlns="http://docs.oasis-open.org/odata/ns/edm">`,
    ...sets.map(toEntityType),
    '<EntityContainer Name="Books">',
    ...sets.map(toEntitySet),
    '<Annotation Term="Capabilities.FilterFunctions"><Collection/></Annotation>',
    '<Annotation Term="Capabilities.BatchSupported" Bool="false"/>',
    '</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>',
    '',
  ].join('\n');
}

function toEntityType({ name, query }: EntitySet): string {
  const { key, all } = propertiesOf(query);
  const properties = all.map(({ name: property, type, isNullable }) => {
    const facets = `${isNullable ? '' : ' Nullable="false"'}${type === 'Edm.Decimal' ? ' Scale="2"' : ''}`;
    return `<Property Name="${property}" Type="${type}"${facets}/>`;
  });
  const keys = key.map((property) => `<PropertyRef Name="${property.name}"/>`).join('');
  return `<EntityType Name="${name}"><Key>${keys}</Key>${properties.join('')}</EntityType>`;
}

const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  ...{ SortRestrictions: 'Sortable', ExpandRestrictions: 'Expandable', SearchRestrictions: 'Searchable' },
  ...{ InsertRestrictions: 'Insertable', UpdateRestrictions: 'Updatable', DeleteRestrictions: 'Deletable' },
};
const EXPRESSIONS = { single: 'SingleValue', range: 'SingleRange' } as const;

/** The set, with what it takes: Power Query asks for nothing else. */
function toEntitySet({ name, query }: EntitySet): string {
  const forms = propertiesOf(query).all.map((property) => ({
    path: property.name,
    form: property.column === undefined ? undefined : findFilterForm(property.column, query),
  }));
  const paths = forms.filter(({ form }) => !form).map(({ path }) => `<PropertyPath>${path}</PropertyPath>`);
  const allowed = forms.flatMap(({ path, form }) =>
    form
      ? `<Record><PropertyValue Property="Property" PropertyPath="${path}"/><PropertyValue Property="AllowedExpressions" String="${EXPRESSIONS[form]}"/></Record>`
      : [],
  );
  const refused = Object.entries(NOT_SUPPORTED).map(
    ([term, property]) =>
      `<Annotation Term="Capabilities.${term}"><Record><PropertyValue Property="${property}" Bool="false"/></Record></Annotation>`,
  );
  return [
    `<EntitySet Name="${name}" EntityType="${NAMESPACE}.${name}">`,
    '<Annotation Term="Capabilities.SkipSupported" Bool="false"/>',
    '<Annotation Term="Capabilities.IndexableByKey" Bool="false"/>',
    ...refused,
    '<Annotation Term="Capabilities.FilterRestrictions"><Record>',
    `<PropertyValue Property="NonFilterableProperties"><Collection>${paths.join('')}</Collection></PropertyValue>`,
    `<PropertyValue Property="FilterExpressionRestrictions"><Collection>${allowed.join('')}</Collection></PropertyValue>`,
    '</Record></Annotation></EntitySet>',
  ].join('');
}
