/** Files with certificates and keys in PEM, checked before anybody connects. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ConfigError } from '../diagnostic.ts';
import { configFileText } from './file.ts';

/** What is wrong, behind the name of the file, and what to do. */
export interface PemFault {
  readonly problem: string;
  readonly todo: string;
}

export function pemText(path: string): string | PemFault {
  try {
    return configFileText(path);
  } catch (error) {
    const fault = error instanceof ConfigError ? error.faults[0] : undefined;
    if (fault === undefined) throw error;
    return fault;
  }
}

/** A certificate of one's own, and what leads to its authority. */
export function chainFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  return 'problem' in read ? read : timeFault(read.certificates, nowMs);
}

/** Who signs those of clients. */
export function authoritiesFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  if ('problem' in read) return read;
  const other = read.certificates.findIndex(({ ca }) => !ca);
  if (other >= 0)
    return {
      problem: `holds as certificate ${other + 1} one that may sign no others`,
      todo: 'Name the certificate of the authority that signs those of the clients, not theirs.',
    };
  return timeFault(read.certificates, nowMs);
}

/** Whom we trust: one that signed itself will do, and in a list of many some may have expired. */
export function trustFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  if ('problem' in read) return read;
  const faults = read.certificates.map((one) => timeFault([one], nowMs));
  return faults.includes(undefined) ? undefined : timeFault(read.certificates, nowMs);
}

export function keyFault(text: string): PemFault | undefined {
  if (/-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text))
    return {
      problem: 'is locked with a passphrase',
      todo: 'Write the key without one (openssl pkey -in KEY -out OTHER), readable by the service alone.',
    };
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text))
    return { problem: 'holds no private key in PEM', todo: 'Name the file that begins with -----BEGIN PRIVATE KEY-----.' };
  try {
    createPrivateKey(text);
    return undefined;
  } catch {
    return {
      problem: 'holds a private key that cannot be read',
      todo: 'Copy the file again, whole; openssl pkey -in KEY -noout tells whether it can be read.',
    };
  }
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

function certificates(text: string): { readonly certificates: readonly X509Certificate[] } | PemFault {
  const blocks = text.split(begin).slice(1);
  if (blocks.length === 0) return { problem: 'holds no certificate in PEM', todo: `Name a file that begins with ${begin}.` };
  const read: X509Certificate[] = [];
  try {
    for (const block of blocks) read.push(new X509Certificate(`${begin}${block.split(end, 1)[0] ?? ''}${end}`));
    return { certificates: read };
  } catch {
    return {
      problem: `holds a certificate that cannot be read, number ${read.length + 1}`,
      todo: 'Copy the file again, whole; openssl x509 -in FILE -noout tells whether it can be read.',
    };
  }
}

function timeFault(read: readonly X509Certificate[], nowMs: number): PemFault | undefined {
  for (const [index, { validFrom, validTo }] of read.entries()) {
    if (Date.parse(validTo) < nowMs)
      return { problem: `holds as certificate ${index + 1} one that expired on ${day(validTo)}`, todo: 'Renew it.' };
    if (Date.parse(validFrom) > nowMs)
      return {
        problem: `holds as certificate ${index + 1} one that is not valid before ${day(validFrom)}`,
        todo: 'Wait, or look whether the clock of this machine is right.',
      };
  }
  return undefined;
}

function day(written: string): string {
  return new Date(written).toISOString().slice(0, 10);
}

/** `key`: of the key's file; else it is about all of them. */
export type PairFault = PemFault & { readonly of: 'key' | 'all' };

/** Each can be read, but they must fit one another, and TLS must find them strong enough. `use`: what cannot be done with them. */
export function pairFault(
  { cert, key }: { readonly cert?: string; readonly key?: string },
  options: SecureContextOptions,
  use: string,
): PairFault | undefined {
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return {
      of: 'key',
      problem: 'does not fit the first certificate of cert_file',
      todo: "Name the key that the certificate was made for; in cert_file the service's own certificate comes first.",
    };
  }
  try {
    createSecureContext(options);
    return undefined;
  } catch (error) {
    const why = error instanceof Error && 'reason' in error ? String(error.reason) : 'unknown';
    return { of: 'all', problem: `cannot be ${use} (${why})`, todo: 'Make a certificate with a stronger key or signature.' };
  }
}
