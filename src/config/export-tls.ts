/**
 * Certificates for connections to backends: files that `tls` of an entry of `export` names, relative to the configuration's own folder; for what goes over OTLP,
 * else those of the variables that every OTLP exporter knows, relative to the folder in which the service starts.
 */
import { dirname, resolve } from 'node:path';
import type { ClientTls } from '../exporters/client-tls.ts';
import { isJsonObject, member, type JsonObject } from '../model/json.ts';
import type { ConfigDocument } from './document.ts';
import { exportSignal, exportUrl } from './export-address.ts';
import type { Finding, Path } from './fault.ts';
import { chainFault, keyFault, pairFault, pemText, trustFault, type PemFault } from './pem-files.ts';
import { asObject, listAt, objectAt } from './reading.ts';
import type { Environment } from './substitution.ts';

export interface ExportTls {
  /** By the place of the entry. */
  readonly tls: ReadonlyMap<number, ClientTls>;
  readonly findings: readonly Finding[];
}

const keys = [
  { key: 'ca_file', as: 'ca', variable: 'CERTIFICATE', faultOf: trustFault },
  { key: 'cert_file', as: 'cert', variable: 'CLIENT_CERTIFICATE', faultOf: chainFault },
  { key: 'key_file', as: 'key', variable: 'CLIENT_KEY', faultOf: keyFault },
] as const;
type Key = (typeof keys)[number];

interface Named {
  readonly key: Key;
  /** As it is written. */
  readonly name: string;
  readonly path: string;
  /** Undefined: it stands in the file. */
  readonly variable: string | undefined;
}

interface Source {
  /** The configuration's own path. */
  readonly file: string;
  readonly document: ConfigDocument;
  readonly env: Environment;
}

/** The certificates must be valid at `nowMs`. */
export function exportTls({ nowMs, ...source }: Source & { readonly nowMs: number }): ExportTls {
  const tls = new Map<number, ClientTls>();
  const findings = entriesOf(source.document).flatMap((entry, index): readonly Finding[] => {
    const named = namedBy(entry, source);
    const read = named.map((one) => ({ one, text: checkedText(one, nowMs) }));
    const faults = read.flatMap(({ one, text }) => (typeof text === 'string' ? [] : [finding(one, index, text)]));
    if (faults.length > 0 || named.length === 0) return faults;
    const own: ClientTls = Object.fromEntries(read.map(({ one, text }) => [one.key.as, text]));
    const lone = named.find(({ key, variable }) => variable !== undefined && key.as !== 'ca' && (own.cert === undefined) !== (own.key === undefined));
    if (lone !== undefined) return [{ path: ['export', index], at: 'value', problem: `is given ${lone.variable ?? ''} alone`, todo: 'Set the variables of a client certificate and of its key, or none.' }];
    // Keys of the file are looked at together elsewhere.
    const unfit = (own.cert === undefined) === (own.key === undefined) ? pairFault(own, own, 'used') : undefined;
    if (unfit === undefined) tls.set(index, own);
    const of = named.find(({ key }) => unfit?.of === 'key' && key.as === 'key') ?? named[0];
    return unfit === undefined || of === undefined ? [] : [finding(of, index, unfit)];
  });
  return { tls, findings };
}

/** Absolute. */
export function exportTlsPaths(source: Source): readonly string[] {
  return entriesOf(source.document).flatMap((entry) => namedBy(entry, source).map(({ path }) => path));
}

/** Of a configuration that is no file: whatever it names is a fault. */
export function exportTlsUnread(document: ConfigDocument): ExportTls {
  const findings = entriesOf(document).flatMap((entry, index) => namedBy(entry, { file: '', document, env: {} }).map((one) => finding(one, index, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })));
  return { tls: new Map(), findings };
}

/** What must fit within an entry. */
export function exportTlsFindings(entry: JsonObject, path: Path, env: Environment): readonly Finding[] {
  const written = member(entry, 'tls');
  if (written === undefined || !isJsonObject(written)) return [];
  const has = (key: string): boolean => member(written, key) !== undefined;
  const at = [...path, 'tls'];
  if (has('cert_file') !== has('key_file')) return [{ path: at, at: 'value', problem: `lacks ${has('cert_file') ? 'key_file' : 'cert_file'}`, todo: 'A client certificate and its key go together.' }];
  const url = exportUrl(entry, env);
  return url?.startsWith('http:') === true ? [{ path: at, at: 'key', problem: 'means nothing for an endpoint that begins with http://', todo: 'Write https://, or leave it out.' }] : [];
}

function namedBy(entry: JsonObject, { file, env }: Source): readonly Named[] {
  const written = member(entry, 'tls');
  const signal = exportSignal(entry);
  if (written !== undefined || signal === undefined) {
    return keys.flatMap((key): readonly Named[] => {
      const name = member(objectAt(entry, 'tls'), key.key);
      return typeof name === 'string' && name !== '' ? [{ key, name, path: resolve(dirname(file), name), variable: undefined }] : [];
    });
  }
  if (exportUrl(entry, env)?.startsWith('https:') !== true) return [];
  return keys.flatMap((key): readonly Named[] => {
    const variable = [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${key.variable}`, `OTEL_EXPORTER_OTLP_${key.variable}`].find((one) => (env[one] ?? '') !== '');
    const name = variable === undefined ? '' : (env[variable] ?? '');
    return variable === undefined ? [] : [{ key, name, path: resolve(name), variable }];
  });
}

function checkedText({ key, path }: Named, nowMs: number): string | PemFault {
  const text = pemText(path);
  return typeof text === 'string' ? (key.faultOf(text, nowMs) ?? text) : text;
}

function finding({ key, name, variable }: Named, index: number, { problem, todo }: PemFault): Finding {
  const told = `${JSON.stringify(name)} ${problem}`;
  return variable === undefined ? { path: ['export', index, 'tls', key.key], at: 'value', problem: told, todo } : { path: ['export', index], at: 'value', problem: `is given ${variable}, and ${told}`, todo };
}

/** Those of the default, where none are written. Anything else than an entry is a fault of the schema. */
function entriesOf({ broken, value }: ConfigDocument): readonly JsonObject[] {
  if (broken) return [];
  const written = asObject(value);
  return member(written, 'export') === undefined ? [{ to: 'metrics' }] : listAt(written, 'export').map(asObject);
}
