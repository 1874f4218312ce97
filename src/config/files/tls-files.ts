/** Certificates and the key that `listen.tls` names, relative to the configuration's own folder: read, and checked before a client comes. */
import { dirname, resolve } from 'node:path';
import { isJsonObject, member, type JsonObject } from '../../model/json.ts';
import { tlsOptions, type Tls } from '../../receivers/tls.ts';
import type { ConfigDocument } from '../document.ts';
import type { Finding } from '../diagnostic.ts';
import { authoritiesFault, chainFault, keyFault, pairFault, pemText, type PemFault } from './pem-files.ts';
import { asObject, objectAt } from '../partial-value.ts';

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
    if (fault !== undefined) findings.push(finding(key, name, fault));
    return undefined;
  };
  const [cert, key, clientCa] = [textOf('cert_file'), textOf('key_file'), textOf('client_ca_file')];
  if (cert === undefined || key === undefined || findings.length > 0) return { tls: undefined, findings };
  const tls: Tls = { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
  const unfit = pairFault(tls, tlsOptions(tls), 'served');
  if (unfit === undefined) return { tls, findings };
  return {
    tls: undefined,
    findings: [
      { path: ['listen', 'tls', ...(unfit.of === 'key' ? ['key_file'] : [])], at: 'value', problem: unfit.problem, todo: unfit.todo },
    ],
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
      name === undefined ? [] : [finding('cert_file', name, { problem: 'was not loaded', todo: 'Give the configuration as a file.' })],
  };
}

/** Anything else than a name is a fault of the schema. */
function namedBy(document: ConfigDocument, key: Key): string | undefined {
  const section: JsonObject =
    isJsonObject(document.value) && !document.broken ? objectAt(objectAt(asObject(document.value), 'listen'), 'tls') : {};
  const name = member(section, key);
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function finding(key: Key, name: string, { problem, todo }: PemFault): Finding {
  return { path: ['listen', 'tls', key], at: 'value', problem: `${JSON.stringify(name)} ${problem}`, todo };
}
