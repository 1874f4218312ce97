/**
 * Allows connections only to addresses of the public internet. The guard resolves a name once and connects to the addresses that it
 * checked, so a later change of the name (DNS rebinding) has no effect.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIPv6, type LookupFunction } from 'node:net';

/** Error code of a refused address. */
export const notPublic = 'ADDRESS_NOT_PUBLIC';

/** Special-purpose networks of IPv4 in the IANA registry, as of 2025. */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Special-purpose networks of 2000::/3: protocol assignments with Teredo, documentation, and 6to4, which may embed any IPv4 address. */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
/** Networks whose last four bytes are an IPv4 address: mapped, and NAT64. */
const embedding = ['::ffff:0:0/96', '64:ff9b::/96'];

const refused = listOf([...special4, ...special6]);
const givenOut6 = listOf(['2000::/3']);
const embeds = listOf(embedding);

export function isPublicAddress(address: string): boolean {
  // A zone id occurs on link-local addresses only.
  if (address.includes('%')) return false;
  if (!isIPv6(address)) return !refused.check(address, 'ipv4');
  if (embeds.check(address, 'ipv6')) return !refused.check(lastFourBytes(address), 'ipv4');
  return givenOut6.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}

/** Fails when any address of the name is not public. */
export function publicLookup(lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: readonly LookupAddress[]) => {
      const [first] = error === null ? addresses : [];
      if (first === undefined) return callback(error ?? fault('ENOTFOUND'), []);
      if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(fault(notPublic), []);
      return options.all === true ? callback(null, [...addresses]) : callback(null, first.address, first.family);
    });
  };
}

function fault(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Accepts any spelling of an address. */
function lastFourBytes(address: string): string {
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return [(high ?? 0) >> 8, (high ?? 0) & 0xff, (low ?? 0) >> 8, (low ?? 0) & 0xff].join('.');
}
