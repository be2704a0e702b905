import { BlockList, isIP, isIPv4 } from 'node:net';
import { mayBeUnescaped } from './utf8';

/** The first four groups name one subscriber's network (RFC 6177 section 2), in which a machine changes its address daily (RFC 8981). */
const IPV6_NETWORK_GROUPS = 4;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** An IPv4 address as it is, or the network of 64 bits of an IPv6 address: one caller as far as limits go. */
export function subscriberOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (isIP(address) !== 6) return address;
  // URL writes every IPv6 address in one form, in which only the zeros of `::` are missing.
  const [head = '', tail] = new URL(`http://[${withoutZone(address)}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const after = groups(tail ?? '');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups(head).length - after.length }, () => '0');
  return [...groups(head), ...zeros, ...after].slice(0, IPV6_NETWORK_GROUPS).join(':');
}

/** True for an IP address, or a network in CIDR notation such as `198.51.100.0/24`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? IPV4_BITS : IPV6_BITS));
}

/** True for an address in one of the networks, which `isNetwork` accepts. An IPv4 address counts in its IPv6 form too. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  const plain = withoutZone(address);
  const family = isIP(plain);
  if (family === 0) return false;
  const list = new BlockList();
  for (const network of networks) {
    const [start = '', bits] = network.split('/');
    const type = isIPv4(start) ? 'ipv4' : 'ipv6';
    list.addSubnet(start, Number(bits ?? (type === 'ipv4' ? IPV4_BITS : IPV6_BITS)), type);
  }
  return list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The networks of IANA's special-purpose registries (RFC 6890) that are not reached over the internet, or lead into other networks: private,
 * shared (RFC 6598), loopback, link-local, unspecified, multicast, reserved, of documents and benchmarks, and IPv6 forms of IPv4 addresses.
 */
const PRIVATE_NETWORKS = {
  4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
    ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ],
  // The first three are all networks outside of 2000::/3: loopback, mapped addresses, NAT64 (64:ff9b::/96) and fc00::/7 among them.
  6: ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
} as const;

/** The address in a text such as `198.51.100.7:50123` or `[2001:db8::1]:50123`; any other text as it is. */
export const withoutPort = (text: string): string => text.trim().replace(/^(?:\[(.*)\]|([0-9.]+))(?::[0-9]*)?$/, '$1$2');

/** True for an IP address. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0;

/** True for an IP address that is not one of the public internet. To Node, each IPv4 address is in the IPv6 network of mapped ones. */
export const isPrivateAddress = (address: string): boolean => isWithin(address, PRIVATE_NETWORKS[isIPv4(address) ? 4 : 6]);

/**
 * The name that a Host header (RFC 9110 section 7.2) or an operator writes: in lower case, without port and without the root's dot. All
 * forms of an IPv6 address, with brackets or without, have the one that browsers write, such as `[::1]`.
 */
export function toHostName(text: string): string {
  if (isIPv6(text)) return toBracketed(text);
  const name = text
    .toLowerCase()
    .replace(/:[0-9]*$/, '')
    .replace(/\.$/, '');
  const address = withoutBrackets(name);
  return isIPv6(address) ? toBracketed(address) : name;
}

/** True for a name that `toHostName` may return for the Host header of a request. */
export const isHostName = (name: string): boolean =>
  /^[\w-]+(\.[\w-]+)*$/.test(name) || (name.startsWith('[') && isIPv6(withoutBrackets(name)));

/** The text without the brackets that an IPv6 address has in URLs. */
export const withoutBrackets = (text: string): string => text.replace(/^\[(.*)\]$/, '$1');

/** True for an IPv6 address without a zone, which no Host header has. */
const isIPv6 = (text: string): boolean => isIP(text) === 6 && !text.includes('%');

/** URL writes every IPv6 address in one form. */
const toBracketed = (address: string): string => new URL(`http://[${address}]`).hostname;

const withoutZone = (address: string): string => address.replace(/%.*$/, '');

/** True for an origin as browsers write it (RFC 6454 section 6.1). Hybrid apps have schemes of their own, such as capacitor. */
export const isOrigin = (text: string): boolean =>
  /^https?:/i.test(text)
    ? URL.canParse(text) && new URL(text).origin === text && !text.includes('*')
    : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:-]+$/.test(text);

/** The address of a page as a header can carry it (RFC 8288 section 3), with all else percent-encoded; undefined for any other text. */
export const toPageAddress = (text: string): string | undefined =>
  /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;

/**
 * True for the address of a PostgreSQL. A password with `/`, `?` or `#` in it ends the name of the host, and the rest of it is found where
 * no address has it.
 */
export function isPostgresUrl(value: string): boolean {
  if (!URL.canParse(value) || !mayBeUnescaped(value)) return false;
  const { protocol, pathname, searchParams, hash } = new URL(value);
  const isWhole = hash === '' && !/[@/]/.test(pathname.slice(1)) && ![...searchParams.keys()].some((name) => /[@/]/.test(name));
  return /^postgres(ql)?:$/.test(protocol) && isWhole;
}
