/** Certificates for connections that the service opens: files that `tls` of an entry names, relative to the configuration's own folder, read and checked before anybody is asked. */
import { dirname, resolve } from 'node:path';
import type { ClientTls } from '../../model/client-tls.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { pathText, type Finding, type Path } from '../diagnostic.ts';
import { chainFault, keyFault, pairFault, pemText, trustFault, type PemFault } from './pem-files.ts';
import { objectAt } from '../partial-value.ts';

/** Of an entry that may have certificates. */
export interface TlsPlace {
  readonly path: Path;
  readonly named: readonly NamedFile[];
}

export interface NamedFile {
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
export const tlsKeys = [
  { key: 'ca_file', as: 'ca', variable: 'CERTIFICATE', faultOf: trustFault },
  { key: 'cert_file', as: 'cert', variable: 'CLIENT_CERTIFICATE', faultOf: chainFault },
  { key: 'key_file', as: 'key', variable: 'CLIENT_KEY', faultOf: keyFault },
] as const;
type TlsKey = (typeof tlsKeys)[number];

/** Those that the entry itself names. `file` is the configuration's own path. */
export function namedByEntry(entry: JsonObject, file: string): readonly NamedFile[] {
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
    const faults = read.flatMap(({ one, text }) => (typeof text === 'string' ? [] : [finding(one, path, text)]));
    if (faults.length > 0 || named.length === 0) return faults;
    const own: ClientTls = Object.fromEntries(read.map(({ one, text }) => [one.key.as, text]));
    const lone = named.find(
      ({ key, variable }) => variable !== undefined && key.as !== 'ca' && (own.cert === undefined) !== (own.key === undefined),
    );
    if (lone !== undefined)
      return [
        {
          path,
          at: 'value',
          problem: `is given ${lone.variable ?? ''} alone`,
          todo: 'Set the variables of a client certificate and of its key, or none.',
        },
      ];
    // Another check covers the keys of the file together.
    const unfit = (own.cert === undefined) === (own.key === undefined) ? pairFault(own, own, 'used') : undefined;
    if (unfit === undefined) tls.set(pathText(path), own);
    const of = named.find(({ key }) => unfit?.of === 'key' && key.as === 'key') ?? named[0];
    return unfit === undefined || of === undefined ? [] : [finding(of, path, unfit)];
  });
  return { tls, findings };
}

/** For a configuration without a file: each named file is a fault. */
export function clientTlsUnread(places: readonly TlsPlace[]): ClientTlsFiles {
  const findings = places.flatMap(({ path, named }) =>
    named.map((one) => finding(one, path, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })),
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
    return [
      {
        path: at,
        at: 'value',
        problem: `lacks ${has('cert_file') ? 'key_file' : 'cert_file'}`,
        todo: 'A client certificate and its key go together.',
      },
    ];
  return typeof url === 'string' && url.toLowerCase().startsWith('http:')
    ? [{ path: at, at: 'key', problem: 'means nothing for an endpoint that begins with http://', todo: 'Write https://, or leave it out.' }]
    : [];
}

function checkedText({ key, path }: NamedFile, nowMs: number): string | PemFault {
  const text = pemText(path);
  return typeof text === 'string' ? (key.faultOf(text, nowMs) ?? text) : text;
}

function finding({ key, name, variable }: NamedFile, place: Path, { problem, todo }: PemFault): Finding {
  const text = `${JSON.stringify(name)} ${problem}`;
  return variable === undefined
    ? { path: [...place, 'tls', key.key], at: 'value', problem: text, todo }
    : { path: place, at: 'value', problem: `is given ${variable}, and ${text}`, todo };
}
