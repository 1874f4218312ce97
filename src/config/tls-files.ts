/** Certificates and the key that `listen.tls` names, relative to the configuration's own folder: read, and checked before a client comes. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isJsonObject, member, type JsonObject } from '../model/json.ts';
import { tlsOptions, type Tls } from '../receivers/tls.ts';
import type { ConfigDocument } from './document.ts';
import { ConfigError, type Finding } from './fault.ts';
import { configFileText } from './file.ts';
import { asObject, objectAt } from './reading.ts';

export interface TlsFiles {
  /** Undefined: not asked for, or something is wrong. */
  readonly tls: Tls | undefined;
  readonly findings: readonly Finding[];
}

interface Fault {
  readonly problem: string;
  readonly todo: string;
}

const keys = ['cert_file', 'key_file', 'client_ca_file'] as const;
type Key = (typeof keys)[number];

const faultOf: { readonly [key in Key]: (text: string, nowMs: number) => Fault | undefined } = { cert_file: chainFault, key_file: keyFault, client_ca_file: authoritiesFault };

/** `file` is the configuration's own path; the certificates must be valid at `nowMs`. */
export function tlsFiles({ file, document, nowMs }: { readonly file: string; readonly document: ConfigDocument; readonly nowMs: number }): TlsFiles {
  const findings: Finding[] = [];
  const textOf = (key: Key): string | undefined => {
    const name = namedBy(document, key);
    if (name === undefined) return undefined;
    const read = fileText(resolve(dirname(file), name));
    const fault = typeof read === 'string' ? faultOf[key](read, nowMs) : read;
    if (fault === undefined && typeof read === 'string') return read;
    if (fault !== undefined) findings.push(finding(key, name, fault));
    return undefined;
  };
  const [cert, key, clientCa] = [textOf('cert_file'), textOf('key_file'), textOf('client_ca_file')];
  if (cert === undefined || key === undefined || findings.length > 0) return { tls: undefined, findings };
  const tls: Tls = { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
  const unfit = pairFault(tls);
  return unfit === undefined ? { tls, findings } : { tls: undefined, findings: [unfit] };
}

/** As they are written. */
export function tlsPaths(document: ConfigDocument): readonly string[] {
  return keys.flatMap((key) => namedBy(document, key) ?? []);
}

/** Of a configuration that is no file: whatever it names is a fault. */
export function tlsUnread(document: ConfigDocument): TlsFiles {
  const name = namedBy(document, 'cert_file');
  return { tls: undefined, findings: name === undefined ? [] : [finding('cert_file', name, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })] };
}

/** Anything else than a name is a fault of the schema. */
function namedBy(document: ConfigDocument, key: Key): string | undefined {
  const section: JsonObject = isJsonObject(document.value) && !document.broken ? objectAt(objectAt(asObject(document.value), 'listen'), 'tls') : {};
  const name = member(section, key);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function finding(key: Key, name: string, { problem, todo }: Fault): Finding {
  return { path: ['listen', 'tls', key], at: 'value', problem: `${JSON.stringify(name)} ${problem}`, todo };
}

function fileText(path: string): string | Fault {
  try {
    return configFileText(path);
  } catch (error) {
    const fault = error instanceof ConfigError ? error.faults[0] : undefined;
    if (fault === undefined) throw error;
    return fault;
  }
}

function chainFault(text: string, nowMs: number): Fault | undefined {
  const read = certificates(text);
  return 'problem' in read ? read : timeFault(read.certificates, nowMs);
}

function authoritiesFault(text: string, nowMs: number): Fault | undefined {
  const read = certificates(text);
  if ('problem' in read) return read;
  const other = read.certificates.findIndex(({ ca }) => !ca);
  if (other >= 0) return { problem: `holds as certificate ${other + 1} one that may sign no others`, todo: 'Name the certificate of the authority that signs those of the clients, not theirs.' };
  return timeFault(read.certificates, nowMs);
}

function keyFault(text: string): Fault | undefined {
  if (/-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text)) return { problem: 'is locked with a passphrase', todo: 'Write the key without one (openssl pkey -in KEY -out OTHER), readable by the service alone.' };
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text)) return { problem: 'holds no private key in PEM', todo: 'Name the file that begins with -----BEGIN PRIVATE KEY-----.' };
  try {
    createPrivateKey(text);
    return undefined;
  } catch {
    return { problem: 'holds a private key that cannot be read', todo: 'Copy the file again, whole; openssl pkey -in KEY -noout tells whether it can be read.' };
  }
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

function certificates(text: string): { readonly certificates: readonly X509Certificate[] } | Fault {
  const blocks = text.split(begin).slice(1);
  if (blocks.length === 0) return { problem: 'holds no certificate in PEM', todo: `Name a file that begins with ${begin}.` };
  const read: X509Certificate[] = [];
  try {
    for (const block of blocks) read.push(new X509Certificate(`${begin}${block.split(end, 1)[0] ?? ''}${end}`));
    return { certificates: read };
  } catch {
    return { problem: `holds a certificate that cannot be read, number ${read.length + 1}`, todo: 'Copy the file again, whole; openssl x509 -in FILE -noout tells whether it can be read.' };
  }
}

function timeFault(read: readonly X509Certificate[], nowMs: number): Fault | undefined {
  for (const [index, { validFrom, validTo }] of read.entries()) {
    if (Date.parse(validTo) < nowMs) return { problem: `holds as certificate ${index + 1} one that expired on ${day(validTo)}`, todo: 'Renew it.' };
    if (Date.parse(validFrom) > nowMs) return { problem: `holds as certificate ${index + 1} one that is not valid before ${day(validFrom)}`, todo: 'Wait, or look whether the clock of this machine is right.' };
  }
  return undefined;
}

function day(written: string): string {
  return new Date(written).toISOString().slice(0, 10);
}

/** Each can be read, but they must fit one another, and TLS must find them strong enough. */
function pairFault(tls: Tls): Finding | undefined {
  if (!new X509Certificate(tls.cert).checkPrivateKey(createPrivateKey(tls.key))) {
    return { path: ['listen', 'tls', 'key_file'], at: 'value', problem: 'does not fit the first certificate of cert_file', todo: "Name the key that the certificate was made for; in cert_file the service's own certificate comes first." };
  }
  try {
    createSecureContext(tlsOptions(tls));
    return undefined;
  } catch (error) {
    const why = error instanceof Error && 'reason' in error ? String(error.reason) : 'unknown';
    return { path: ['listen', 'tls'], at: 'value', problem: `cannot be served (${why})`, todo: 'Make a certificate with a stronger key or signature.' };
  }
}
