import type { Request } from 'express';
import { AppError, InputError } from '../errors';
import type { QueryString } from '../formats/file-address';
import { notImplemented, parseFilter, type Comparison } from './odata-filter';
import type { Property } from './odata-model';

const SYSTEM_OPTIONS = ['$filter', '$select', '$count', '$top', '$format', '$skiptoken'] as const;
type SystemOption = (typeof SYSTEM_OPTIONS)[number];
/** The other options of OData (URL Conventions 4.01, section 5.1). */
const OTHER_OPTIONS = ['$orderby', '$skip', '$expand', '$search', '$apply', '$compute', '$levels', '$index', '$deltatoken', '$id'];
const SUPPORTED = SYSTEM_OPTIONS.slice(0, -1).join(', ');
/** The most rows of a page, some 6 MB of lines. Half as many cost a fifth more time, twice as many save none, and a client holds each page whole. */
const PAGE_ROWS = 10_000;

/** The form of an answer as JSON. */
export interface JsonForm {
  /** False for a client that wants no control information but links and counts. */
  readonly hasContext: boolean;
  /** True for a client that reads JSON numbers as floats, and wants texts for those with more digits. */
  readonly isIeee754: boolean;
}

/** What a request asks of a set. */
export interface SetOptions extends JsonForm {
  readonly comparisons: readonly Comparison[];
  /** The names of the properties; undefined for all. */
  readonly select: readonly string[] | undefined;
  readonly hasCount: boolean;
  /** The most rows of all pages together. */
  readonly top: number | undefined;
  readonly skipToken: string | undefined;
  /** The most rows of this page, and whether the client has asked for so many. */
  readonly pageRows: number;
  readonly isPagePreferred: boolean;
  /** The parameters that files have. */
  readonly parameters: QueryString;
}

/** Reads the options of a set. Throws INVALID_PARAMETERS, NOT_IMPLEMENTED and NOT_ACCEPTABLE. */
export function parseSetOptions(request: Request, isCount: boolean): SetOptions {
  const system = readSystemOptions(request);
  const parameters = Object.fromEntries(Object.entries(request.query).filter(([name]) => !name.startsWith('$')));
  const { $filter, $select, $count, $top, $skiptoken } = system;
  const preferred = /(?:^|[,;\s])(?:odata\.)?maxpagesize=([1-9][0-9]{0,8})(?![^,;\s])/.exec(request.get('Prefer') ?? '')?.[1];
  return {
    ...(isCount ? toTextForm(request, system.$format) : toJsonForm(request, system.$format)),
    comparisons: $filter === undefined ? [] : parseFilter($filter),
    select: $select === undefined ? undefined : parseSelect($select),
    hasCount: $count !== undefined && parseFlag('$count', $count),
    top: $top === undefined ? undefined : parseNumber('$top', $top),
    skipToken: $skiptoken,
    pageRows: Math.min(Number(preferred ?? PAGE_ROWS), PAGE_ROWS),
    isPagePreferred: preferred !== undefined,
    parameters,
  };
}

/**
 * Reads the form of the list of sets. Documents have no other system options, and pass over parameters: Power Query sends those of a feed to
 * each address. Throws as `parseSetOptions`.
 */
export const parseListForm = (request: Request): JsonForm => toJsonForm(request, readFormat(request));

/** Throws NOT_ACCEPTABLE for another format than that of the metadata. */
export function assertMetadataFormat(request: Request): void {
  const format = readFormat(request);
  if (format !== undefined && !/^(?:application\/)?xml(?:;|$)/i.test(format))
    throw new AppError('NOT_ACCEPTABLE', { fault: 'the metadata is XML' });
}

function readFormat(request: Request): string | undefined {
  const { $format, ...others } = readSystemOptions(request);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new InputError(`${other} is for sets`);
  return $format;
}

function readSystemOptions({ query }: Request): { readonly [Option in SystemOption]?: string } {
  const given: [string, string][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (!name.startsWith('$') && !name.startsWith('@')) continue;
    if (OTHER_OPTIONS.includes(name) || name.startsWith('@')) throw notImplemented(`there is no ${name}`, SUPPORTED);
    if (!SYSTEM_OPTIONS.some((each) => each === name))
      throw new InputError(`there is no system option ${name}: there are ${SUPPORTED}, in small letters`);
    if (typeof value !== 'string') throw new InputError(`${name} must be given once`);
    given.push([name, value]);
  }
  return Object.fromEntries(given);
}

function parseSelect(text: string): readonly string[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  return names.includes('*') ? undefined : [...new Set(names)];
}

/** The chosen properties, in the order of the set. Throws INVALID_PARAMETERS for a name of none. */
export function selectProperties(all: readonly Property[], select: readonly string[] | undefined): readonly Property[] {
  const unknown = select?.find((name) => !all.some((property) => property.name === name));
  if (unknown !== undefined) throw new InputError(`$select: there is no property ${unknown}`);
  return select ? all.filter(({ name }) => select.includes(name)) : all;
}

function parseFlag(name: string, text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InputError(`${name} must be true or false`);
  return text === 'true';
}

function parseNumber(name: string, text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InputError(`${name} must be a number from 0 on`);
  return Number(text);
}

/** The media types and parameters that a client accepts, and how much it wants each. */
function readAccepted(header: string): { readonly type: string; readonly parameters: ReadonlyMap<string, string>; readonly q: number }[] {
  return header.split(',').map((range) => {
    const [type = '', ...others] = range.split(';').map((part) => part.trim().toLowerCase());
    const parameters = new Map(others.map((part) => part.split('=').map((each) => each.trim()) as [string, string]));
    return { type, parameters, q: Number(parameters.get('q') ?? 1) };
  });
}

const JSON_TYPES = ['application/json', 'application/*', '*/*'];

/**
 * The form of JSON that the client wants most (JSON Format 4.01, section 3). `$format` counts before the header Accept. Throws NOT_ACCEPTABLE
 * where it is no JSON that this door writes.
 */
function toJsonForm(request: Request, format: string | undefined): JsonForm {
  const asked = format === 'json' ? 'application/json' : (format ?? request.get('Accept') ?? '*/*');
  const metadataOf = (parameters: ReadonlyMap<string, string>): string =>
    parameters.get('odata.metadata') ?? parameters.get('metadata') ?? 'minimal';
  const [best] = readAccepted(asked)
    .filter(({ type, q, parameters }) => JSON_TYPES.includes(type) && q > 0 && ['minimal', 'none'].includes(metadataOf(parameters)))
    .filter(({ parameters }) => !parameters.has('odata'))
    .toSorted((one, other) => other.q - one.q);
  if (!best) throw new AppError('NOT_ACCEPTABLE', { fault: 'application/json is there, with odata.metadata=minimal or none' });
  return {
    hasContext: metadataOf(best.parameters) === 'minimal',
    isIeee754: best.parameters.get('ieee754compatible') === 'true',
  };
}

const TEXT_TYPES = ['text/plain', 'text/*', ...JSON_TYPES];

/** The form of the number of rows, which is plain text. A client that asks for JSON, as for its rows, has it too. Throws NOT_ACCEPTABLE. */
function toTextForm(request: Request, format: string | undefined): JsonForm {
  const asked = format === 'json' ? 'application/json' : (format ?? request.get('Accept') ?? '*/*');
  if (!readAccepted(asked).some(({ type, q }) => TEXT_TYPES.includes(type) && q > 0))
    throw new AppError('NOT_ACCEPTABLE', { fault: 'the number of rows is text/plain' });
  return { hasContext: false, isIeee754: false };
}

/** The media type of an answer in a form. */
export const toMediaType = ({ hasContext, isIeee754 }: JsonForm): string =>
  `application/json;odata.metadata=${hasContext ? 'minimal' : 'none'};IEEE754Compatible=${isIeee754};charset=utf-8`;
