/** What an entry of `export` for a backend with scores of its own gives, and what the backend's usual environment variables add. */
import type { ScoreApiBackend, ScoreApiKey, ScoreApiSettings } from '../../exporters/scores/score-api-backend.ts';
import { scoreApiKeyNames } from '../../exporters/scores/score-api-backend.ts';
import { member, type JsonObject } from '../../model/json.ts';
import type { Finding, Path } from '../diagnostic.ts';
import type { Environment } from '../substitution.ts';

export interface NativeGiven {
  /** Undefined when neither entry nor variable names one. */
  readonly endpoint: string | undefined;
  readonly keys: ScoreApiSettings['keys'];
}

export function nativeGiven(backend: ScoreApiBackend, entry: JsonObject, env: Environment): NativeGiven {
  const keys = scoreApiKeyNames.flatMap((name) => {
    const key = backend.keys[name];
    const value = key === undefined ? undefined : given(key, member(entry, name), env);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { endpoint: given(backend.endpoint, member(entry, 'endpoint'), env), keys: Object.fromEntries(keys) };
}

function given({ variables, preset, ofVariable = (text) => text }: ScoreApiKey, written: unknown, env: Environment): string | undefined {
  if (typeof written === 'string' && written !== '') return written;
  const found = variables.map((variable) => env[variable]).find((value) => value !== undefined && value !== '');
  return (found === undefined ? undefined : ofVariable(found)) ?? preset;
}

export function nativeFindings(options: {
  readonly backend: ScoreApiBackend;
  readonly entry: JsonObject;
  readonly path: Path;
  readonly env: Environment;
}): readonly Finding[] {
  const { backend, entry, path, env } = options;
  const { endpoint, keys } = nativeGiven(backend, entry, env);
  const wanted = [
    ['endpoint', backend.endpoint, endpoint] as const,
    ...scoreApiKeyNames.map((name) => [name, backend.keys[name], keys[name]] as const),
  ];
  const isUrl = endpoint !== undefined && /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '');
  return [
    ...wanted.flatMap(([name, key, value]): readonly Finding[] =>
      key?.isRequired === true && value === undefined
        ? [{ path, at: 'value', problem: `lacks ${name}`, todo: `Add it, or set ${key.variables.join(' or ')}.` }]
        : [],
    ),
    ...(endpoint === undefined || isUrl
      ? []
      : [
          {
            path,
            at: 'value',
            problem: 'has an endpoint that is no URL',
            todo: `Write endpoint, or ${backend.endpoint.variables.join(' or ')}, with http:// or https://.`,
          } as const,
        ]),
    ...scoreApiKeyNames
      .filter((name) => backend.keys[name] === undefined && member(entry, name) !== undefined)
      .map((name): Finding => ({
        path: [...path, name],
        at: 'key',
        problem: `means nothing for ${backend.id}`,
        todo: `Leave it out${ownKeys(backend)}.`,
      })),
    ...((member(entry, 'protocol') ?? 'http/protobuf') !== 'http/protobuf'
      ? [{ path: [...path, 'protocol'], at: 'key', problem: `means nothing for ${backend.id}`, todo: 'Leave it out.' } as const]
      : []),
  ];
}

function ownKeys(backend: ScoreApiBackend): string {
  const names = Object.keys(backend.keys);
  return names.length === 0 ? '' : `: it takes ${names.join(', ')}`;
}
