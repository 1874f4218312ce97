/** Files with certificates and keys in PEM, checked before anybody connects. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { asObject, ConfigError, type Finding, listAt, objectAt, type Path, pathText, finding } from '../diagnostic.ts';
import type { ConfigDocument, Environment } from '../document.ts';
import { exportSignal, exportUrl } from '../entries/exporter-entry.ts';
import { configFileText } from './tool-files.ts';
import { evaluatorEntriesMax } from '../sections/evaluators.ts';
import { exportersMax } from '../sections/export.ts';
import { judgesMax } from '../sections/judges.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import { type Tls, tlsOptions } from '../../receivers/tls.ts';

/** What is wrong, behind the name of the file, and what to do. */
interface PemFault {
  readonly problem: string;
  readonly todo: string;
}

function pemText(path: string): string | PemFault {
  try {
    return configFileText(path);
  } catch (error) {
    const fault = error instanceof ConfigError ? error.faults[0] : undefined;
    if (fault === undefined) throw error;
    return fault;
  }
}

/** A certificate of one's own, and what leads to its authority. */
function chainFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  return 'problem' in read ? read : timeFault(read.certificates, nowMs);
}

/** Who signs those of clients. */
function authoritiesFault(text: string, nowMs: number): PemFault | undefined {
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
function trustFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  if ('problem' in read) return read;
  const faults = read.certificates.map((one) => timeFault([one], nowMs));
  return faults.includes(undefined) ? undefined : timeFault(read.certificates, nowMs);
}

function keyFault(text: string): PemFault | undefined {
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
type PairFault = PemFault & { readonly of: 'key' | 'all' };

/** Each can be read, but they must fit one another, and TLS must find them strong enough. `use`: what cannot be done with them. */
function pairFault(
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

// Certificates and the key that `listen.tls` names, relative to the configuration's own folder: read, and checked before a client comes.

export interface TlsFiles {
  /** Undefined: not asked for, or something is wrong. */
  readonly tls: Tls | undefined;
  readonly findings: readonly Finding[];
}

const keys = ['cert_file', 'key_file', 'client_ca_file'] as const;
type Key = (typeof keys)[number];
export const tlsFilesMax = keys.length;

const faultOf: { readonly [key in Key]: (text: string, nowMs: number) => PemFault | undefined } = {
  cert_file: chainFault,
  key_file: keyFault,
  client_ca_file: authoritiesFault,
};

/** `file` is the configuration's own path; the certificates must be valid at `nowMs`. */
export function tlsFiles({
  file,
  document,
  nowMs,
}: {
  readonly file: string;
  readonly document: ConfigDocument;
  readonly nowMs: number;
}): TlsFiles {
  const findings: Finding[] = [];
  const textOf = (key: Key): string | undefined => {
    const name = namedBy(document, key);
    if (name === undefined) return undefined;
    const read = pemText(resolve(dirname(file), name));
    const fault = typeof read === 'string' ? faultOf[key](read, nowMs) : read;
    if (fault === undefined && typeof read === 'string') return read;
    if (fault !== undefined) findings.push(listenFinding(key, name, fault));
    return undefined;
  };
  const [cert, key, clientCa] = [textOf('cert_file'), textOf('key_file'), textOf('client_ca_file')];
  if (cert === undefined || key === undefined || findings.length > 0) return { tls: undefined, findings };
  const tls: Tls = { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
  const unfit = pairFault(tls, tlsOptions(tls), 'served');
  if (unfit === undefined) return { tls, findings };
  return {
    tls: undefined,
    findings: [finding(['listen', 'tls', ...(unfit.of === 'key' ? ['key_file'] : [])], 'value', unfit.problem, unfit.todo)],
  };
}

/** As they are written. */
export function tlsPaths(document: ConfigDocument): readonly string[] {
  return keys.flatMap((key) => namedBy(document, key) ?? []);
}

/** For a configuration without a file: each named file is a fault. */
export function tlsUnread(document: ConfigDocument): TlsFiles {
  const name = namedBy(document, 'cert_file');
  return {
    tls: undefined,
    findings:
      name === undefined
        ? []
        : [listenFinding('cert_file', name, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })],
  };
}

/** Anything else than a name is a fault of the schema. */
function namedBy(document: ConfigDocument, key: Key): string | undefined {
  const section: JsonObject =
    isJsonObject(document.value) && !document.broken ? objectAt(objectAt(asObject(document.value), 'listen'), 'tls') : {};
  const name = member(section, key);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function listenFinding(key: Key, name: string, { problem, todo }: PemFault): Finding {
  return finding(['listen', 'tls', key], 'value', `${JSON.stringify(name)} ${problem}`, todo);
}

// Certificates for connections that the service opens: files that `tls` of an entry names, relative to the configuration's own folder, read and checked before anybody is asked.

/** Of an entry that may have certificates. */
interface TlsPlace {
  readonly path: Path;
  readonly named: readonly NamedFile[];
}

interface NamedFile {
  readonly key: TlsKey;
  /** As it is written. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Undefined: it stands in the file. */
  readonly variable: string | undefined;
}

export interface ClientTlsFiles {
  /** By the place of the entry, as `pathText` writes it. */
  readonly tls: ReadonlyMap<string, ClientTls>;
  readonly findings: readonly Finding[];
}

/** `variable`: how the variables of OTLP exporters end. */
const tlsKeys = [
  { key: 'ca_file', as: 'ca', variable: 'CERTIFICATE', faultOf: trustFault },
  { key: 'cert_file', as: 'cert', variable: 'CLIENT_CERTIFICATE', faultOf: chainFault },
  { key: 'key_file', as: 'key', variable: 'CLIENT_KEY', faultOf: keyFault },
] as const;
type TlsKey = (typeof tlsKeys)[number];

/** Those that the entry itself names. `file` is the configuration's own path. */
function namedByEntry(entry: JsonObject, file: string): readonly NamedFile[] {
  return tlsKeys.flatMap((key): readonly NamedFile[] => {
    const name = member(objectAt(entry, 'tls'), key.key);
    return typeof name === 'string' && name !== '' ? [{ key, name, path: resolve(dirname(file), name), variable: undefined }] : [];
  });
}

/** The certificates must be valid at `nowMs`. */
export function clientTlsFiles(places: readonly TlsPlace[], nowMs: number): ClientTlsFiles {
  const tls = new Map<string, ClientTls>();
  const findings = places.flatMap(({ path, named }): readonly Finding[] => {
    const read = named.map((one) => ({ one, text: checkedText(one, nowMs) }));
    const faults = read.flatMap(({ one, text }) => (typeof text === 'string' ? [] : [clientFinding(one, path, text)]));
    if (faults.length > 0 || named.length === 0) return faults;
    const own: ClientTls = Object.fromEntries(read.map(({ one, text }) => [one.key.as, text]));
    const lone = named.find(
      ({ key, variable }) => variable !== undefined && key.as !== 'ca' && (own.cert === undefined) !== (own.key === undefined),
    );
    if (lone !== undefined)
      return [
        finding(
          path,
          'value',
          `is given ${lone.variable ?? ''} alone`,
          'Set the variables of a client certificate and of its key, or none.',
        ),
      ];
    // Another check covers the keys of the file together.
    const unfit = (own.cert === undefined) === (own.key === undefined) ? pairFault(own, own, 'used') : undefined;
    if (unfit === undefined) tls.set(pathText(path), own);
    const of = named.find(({ key }) => unfit?.of === 'key' && key.as === 'key') ?? named[0];
    return unfit === undefined || of === undefined ? [] : [clientFinding(of, path, unfit)];
  });
  return { tls, findings };
}

/** For a configuration without a file: each named file is a fault. */
export function clientTlsUnread(places: readonly TlsPlace[]): ClientTlsFiles {
  const findings = places.flatMap(({ path, named }) =>
    named.map((one) => clientFinding(one, path, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })),
  );
  return { tls: new Map(), findings };
}

/** What must fit within an entry. `url`: of whom it asks, where that is known. */
export function clientTlsFindings(entry: JsonObject, path: Path, url: JsonValue | undefined): readonly Finding[] {
  const written = member(entry, 'tls');
  if (written === undefined || !isJsonObject(written)) return [];
  const has = (key: string): boolean => member(written, key) !== undefined;
  const at = [...path, 'tls'];
  if (has('cert_file') !== has('key_file'))
    return [finding(at, 'value', `lacks ${has('cert_file') ? 'key_file' : 'cert_file'}`, 'A client certificate and its key go together.')];
  return typeof url === 'string' && url.toLowerCase().startsWith('http:')
    ? [finding(at, 'key', 'means nothing for an endpoint that begins with http://', 'Write https://, or leave it out.')]
    : [];
}

function checkedText({ key, path }: NamedFile, nowMs: number): string | PemFault {
  const text = pemText(path);
  return typeof text === 'string' ? (key.faultOf(text, nowMs) ?? text) : text;
}

function clientFinding({ key, name, variable }: NamedFile, place: Path, { problem, todo }: PemFault): Finding {
  const text = `${JSON.stringify(name)} ${problem}`;
  return variable === undefined
    ? finding([...place, 'tls', key.key], 'value', text, todo)
    : finding(place, 'value', `is given ${variable}, and ${text}`, todo);
}

// Which entries of the configuration may have certificates for the connections that they open: backends, judges and the endpoints of evaluators.

interface Source {
  /** The configuration's own path. */
  readonly file: string;
  readonly document: ConfigDocument;
  readonly env: Environment;
}

/** Anything else than an entry is a fault of the schema. */
export function tlsPlaces({ file, document: { broken, value }, env }: Source): readonly TlsPlace[] {
  if (broken) return [];
  const written = asObject(value);
  return [
    ...Object.entries(objectAt(written, 'judges')).map(([name, entry]) => ({
      path: ['judges', name],
      named: namedByEntry(asObject(entry), file),
    })),
    ...listAt(written, 'evaluators').map((entry, index) => ({
      path: ['evaluators', index],
      named: isJsonObject(entry) ? namedByEntry(entry, file) : [],
    })),
    ...exportEntries(written).map((entry, index) => ({ path: ['export', index], named: namedByExport(entry, file, env) })),
  ];
}

export const tlsPlaceFilesMax = (judgesMax + evaluatorEntriesMax + exportersMax) * tlsKeys.length;

/** Absolute, each once. */
export function tlsPlacePaths(source: Source): readonly string[] {
  return [...new Set(tlsPlaces(source).flatMap(({ named }) => named.map(({ path }) => path)))];
}

/** For what goes over OTLP, without `tls`, those of the variables that every OTLP exporter knows, relative to the folder in which the service starts. */
function namedByExport(entry: JsonObject, file: string, env: Environment): readonly NamedFile[] {
  const signal = exportSignal(entry);
  if (member(entry, 'tls') !== undefined || signal === undefined) return namedByEntry(entry, file);
  if (exportUrl(entry, env)?.startsWith('https:') !== true) return [];
  return tlsKeys.flatMap((key): readonly NamedFile[] => {
    const variable = [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${key.variable}`, `OTEL_EXPORTER_OTLP_${key.variable}`].find(
      (one) => (env[one] ?? '') !== '',
    );
    const name = variable === undefined ? '' : (env[variable] ?? '');
    return variable === undefined ? [] : [{ key, name, path: resolve(name), variable }];
  });
}

/** Those of the default, where none are written. */
function exportEntries(written: JsonObject): readonly JsonObject[] {
  return member(written, 'export') === undefined ? [{ to: 'metrics' }] : listAt(written, 'export').map(asObject);
}
