/** Reads certificates and keys in PEM, and checks them before the first connection. */
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
import { isJsonObject, type JsonObject, member } from '../../model/json.ts';
import { type Tls, tlsOptions } from '../../receivers/tls.ts';

/** The fault of a file and the remedy. */
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

/** Checks a certificate with its chain. */
function chainFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  return 'problem' in read ? read : timeFault(read.certificates, nowMs);
}

/** Checks the authorities of client certificates. */
function authoritiesFault(text: string, nowMs: number): PemFault | undefined {
  const read = certificates(text);
  if ('problem' in read) return read;
  const other = read.certificates.findIndex(({ ca }) => !ca);
  if (other >= 0)
    return {
      problem: `has a certificate that may not sign others (number ${other + 1})`,
      todo: 'Name the certificate of the authority that signs client certificates.',
    };
  return timeFault(read.certificates, nowMs);
}

/** Checks trusted certificates: self-signed ones are allowed, and some may have expired. */
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
      todo: 'Write the key without one (openssl pkey -in KEY -out OTHER), readable only by the service.',
    };
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(text))
    return { problem: 'has no private key in PEM', todo: 'Name the file that begins with -----BEGIN PRIVATE KEY-----.' };
  try {
    createPrivateKey(text);
    return undefined;
  } catch {
    return {
      problem: 'has an unreadable private key',
      todo: 'Copy the whole file again, and check it with openssl pkey -in KEY -noout.',
    };
  }
}

const begin = '-----BEGIN CERTIFICATE-----';
const end = '-----END CERTIFICATE-----';

function certificates(text: string): { readonly certificates: readonly X509Certificate[] } | PemFault {
  const blocks = text.split(begin).slice(1);
  if (blocks.length === 0) return { problem: 'has no certificate in PEM', todo: `Name a file that begins with ${begin}.` };
  const read: X509Certificate[] = [];
  try {
    for (const block of blocks) read.push(new X509Certificate(`${begin}${block.split(end, 1)[0] ?? ''}${end}`));
    return { certificates: read };
  } catch {
    return {
      problem: `has an unreadable certificate (number ${read.length + 1})`,
      todo: 'Copy the whole file again, and check it with openssl x509 -in FILE -noout.',
    };
  }
}

function timeFault(read: readonly X509Certificate[], nowMs: number): PemFault | undefined {
  for (const [index, { validFrom, validTo }] of read.entries()) {
    if (Date.parse(validTo) < nowMs)
      return { problem: `has a certificate that expired on ${day(validTo)} (number ${index + 1})`, todo: 'Renew it.' };
    if (Date.parse(validFrom) > nowMs)
      return {
        problem: `has a certificate that is not valid before ${day(validFrom)} (number ${index + 1})`,
        todo: 'Wait, or check the clock of this machine.',
      };
  }
  return undefined;
}

function day(written: string): string {
  return new Date(written).toISOString().slice(0, 10);
}

/** `of`: the file of the key, or all files. */
type PairFault = PemFault & { readonly of: 'key' | 'all' };

/** Checks that certificate and key match, and that TLS accepts them. `use`: the participle in the message. */
function pairFault(
  { cert, key }: { readonly cert?: string; readonly key?: string },
  options: SecureContextOptions,
  use: string,
): PairFault | undefined {
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return {
      of: 'key',
      problem: 'does not match the first certificate of cert_file',
      todo: "Name the key of the certificate; in cert_file the service's own certificate comes first.",
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

export interface TlsFiles {
  /** `undefined` when the configuration names none, or with faults. */
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

/** Reads the files of `listen.tls`. `file`: path of the configuration. The certificates must be valid at `nowMs`. */
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

/** The paths in the configuration. */
export function tlsPaths(document: ConfigDocument): readonly string[] {
  return keys.flatMap((key) => namedBy(document, key) ?? []);
}

/** For a configuration that is not a file: each named file is a fault. */
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

/** The schema reports values that are not a name. */
function namedBy(document: ConfigDocument, key: Key): string | undefined {
  const section: JsonObject =
    isJsonObject(document.value) && !document.broken ? objectAt(objectAt(asObject(document.value), 'listen'), 'tls') : {};
  const name = member(section, key);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function listenFinding(key: Key, name: string, { problem, todo }: PemFault): Finding {
  return finding(['listen', 'tls', key], 'value', `${JSON.stringify(name)} ${problem}`, todo);
}

/** An entry with client certificates. */
interface TlsPlace {
  readonly path: Path;
  readonly named: readonly NamedFile[];
}

interface NamedFile {
  readonly key: TlsKey;
  /** The path in the configuration. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** The environment variable that names it, if any. */
  readonly variable: string | undefined;
}

export interface ClientTlsFiles {
  /** Client settings by the `pathText` of the entry. */
  readonly tls: ReadonlyMap<string, ClientTls>;
  readonly findings: readonly Finding[];
}

/** `variable`: suffix of the variables of OTLP exporters. */
const tlsKeys = [
  { key: 'ca_file', as: 'ca', variable: 'CERTIFICATE', faultOf: trustFault },
  { key: 'cert_file', as: 'cert', variable: 'CLIENT_CERTIFICATE', faultOf: chainFault },
  { key: 'key_file', as: 'key', variable: 'CLIENT_KEY', faultOf: keyFault },
] as const;
type TlsKey = (typeof tlsKeys)[number];

/** The files that the entry names. `file`: path of the configuration. */
function namedByEntry(entry: JsonObject, file: string): readonly NamedFile[] {
  return tlsKeys.flatMap((key): readonly NamedFile[] => {
    const name = member(objectAt(entry, 'tls'), key.key);
    return typeof name === 'string' && name !== '' ? [{ key, name, path: resolve(dirname(file), name), variable: undefined }] : [];
  });
}

/** Reads the files of `tls` of entries. The certificates must be valid at `nowMs`. */
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
        finding(path, 'value', `has ${lone.variable ?? ''} only`, 'Set the variables of a client certificate and of its key, or none.'),
      ];
    // `clientTlsFindings` reports a certificate without its key.
    const unfit = (own.cert === undefined) === (own.key === undefined) ? pairFault(own, own, 'used') : undefined;
    if (unfit === undefined) tls.set(pathText(path), own);
    const of = named.find(({ key }) => unfit?.of === 'key' && key.as === 'key') ?? named[0];
    return unfit === undefined || of === undefined ? [] : [clientFinding(of, path, unfit)];
  });
  return { tls, findings };
}

/** For a configuration that is not a file: each named file is a fault. */
export function clientTlsUnread(places: readonly TlsPlace[]): ClientTlsFiles {
  const findings = places.flatMap(({ path, named }) =>
    named.map((one) => clientFinding(one, path, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })),
  );
  return { tls: new Map(), findings };
}

/** Checks `tls` of an entry against its `url`, if that is known. `path`: of the entry. */
export function clientTlsFindings(
  tls: { readonly certFile?: string | undefined; readonly keyFile?: string | undefined } | undefined,
  path: Path,
  url: string | undefined,
): readonly Finding[] {
  if (tls === undefined) return [];
  const at = [...path, 'tls'];
  if ((tls.certFile === undefined) !== (tls.keyFile === undefined))
    return [
      finding(
        at,
        'value',
        `lacks ${tls.keyFile === undefined ? 'key_file' : 'cert_file'}`,
        'A client certificate and its key go together.',
      ),
    ];
  return url?.toLowerCase().startsWith('http:') === true
    ? [finding(at, 'key', 'has no effect for an endpoint that begins with http://', 'Write https://, or leave it out.')]
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
    : finding(place, 'value', `has ${variable}, and ${text}`, todo);
}

interface Source {
  /** The configuration's own path. */
  readonly file: string;
  readonly document: ConfigDocument;
  readonly env: Environment;
}

/** Entries that may have client certificates: judges, evaluators and exporters. */
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

/** Absolute paths, each once. */
export function tlsPlacePaths(source: Source): readonly string[] {
  return [...new Set(tlsPlaces(source).flatMap(({ named }) => named.map(({ path }) => path)))];
}

/** Without `tls`, an OTLP exporter uses the files of the OTLP variables, relative to the working directory. */
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

/** Without entries, the default entry. */
function exportEntries(written: JsonObject): readonly JsonObject[] {
  return member(written, 'export') === undefined ? [{ to: 'metrics' }] : listAt(written, 'export').map(asObject);
}
