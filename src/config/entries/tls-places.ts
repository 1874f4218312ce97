/** Which entries of the configuration may have certificates for the connections that they open: backends, judges and the endpoints of evaluators. */
import { resolve } from 'node:path';
import { isJsonObject, member, type JsonObject } from '../../model/json.ts';
import { namedByEntry, tlsKeys, type NamedFile, type TlsPlace } from '../files/client-tls-files.ts';
import type { ConfigDocument } from '../document.ts';
import { exportSignal, exportUrl } from './export-address.ts';
import { asObject, listAt, objectAt } from '../partial-value.ts';
import { evaluatorEntriesMax } from '../sections/evaluators.ts';
import { exportersMax } from '../sections/export.ts';
import { judgesMax } from '../sections/judges.ts';
import type { Environment } from '../substitution.ts';

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
