import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { members } from '../members.ts';
import { validators } from '../../builders/validators.ts';

const backend = 'http://127.0.0.1:6006';
const on = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: backend };
const asked = `telemetry: { traces: { exporter: otlp, endpoint: "${backend}" } }`;

const taken: readonly {
  readonly name: string;
  readonly text: string;
  readonly env: { readonly [name: string]: string };
  readonly want: object | undefined;
}[] = [
  { name: 'nothing asks for them', text: '', env: { OTEL_EXPORTER_OTLP_ENDPOINT: backend }, want: undefined },
  {
    name: 'the variables ask for them',
    text: '',
    env: on,
    want: { url: `${backend}/v1/traces`, protocol: 'http/protobuf', sample: 0.01, headers: {} },
  },
  { name: 'the file has none', text: 'telemetry: { traces: { exporter: none } }', env: on, want: undefined },
  { name: 'the file asks for them', text: asked, env: {}, want: { url: `${backend}/v1/traces`, sample: 0.01 } },
  {
    name: 'the file gives a share',
    text: 'telemetry: { traces: { sample: 0.5 } }',
    env: { ...on, OTEL_TRACES_SAMPLER: 'always_on' },
    want: { sample: 0.5 },
  },
  {
    name: 'a sampler by variable',
    text: '',
    env: { ...on, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    want: { sample: 0.25 },
  },
  { name: 'always_off', text: '', env: { ...on, OTEL_TRACES_SAMPLER: 'always_off' }, want: { sample: 0 } },
  {
    name: 'an endpoint only for traces',
    text: '',
    env: { ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/y', OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c' },
    want: { url: 'http://x/y', headers: { a: 'b c' } },
  },
  {
    name: 'empty variables count as not set',
    text: '',
    env: {
      ...on,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: '',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '',
    },
    want: { protocol: 'http/json', sample: 1 },
  },
  { name: 'JSON by variable', text: asked, env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, want: { protocol: 'http/json' } },
];

for (const { name, text, env, want } of taken)
  test(`own traces: ${name}`, () => {
    const { config, warnings } = loadConfig({ validators, file: 'a.yaml', text, env, evaluators: members });
    expect(warnings).toEqual([]);
    if (want === undefined) expect(config.ownTraces).toBeUndefined();
    else expect(config.ownTraces).toMatchObject(want);
  });

const refused: readonly {
  readonly name: string;
  readonly file: string;
  readonly env: { readonly [name: string]: string };
  readonly says: RegExp;
}[] = [
  { name: 'no endpoint', file: '{ exporter: otlp }', env: {}, says: /lacks endpoint/ },
  {
    name: 'an endpoint that is this service',
    file: '{ exporter: otlp, endpoint: "http://localhost:4318" }',
    env: {},
    says: /leads back to this service/,
  },
  { name: 'an endpoint that is not a URL', file: '{ exporter: otlp, endpoint: "phoenix:6006" }', env: {}, says: /endpoint/ },
  {
    name: 'a header that cannot be sent',
    file: `{ exporter: otlp, endpoint: "${backend}", headers: { key: "a\\nb" } }`,
    env: {},
    says: /headers.key/,
  },
  {
    name: 'a name of a header that cannot be sent',
    file: `{ exporter: otlp, endpoint: "${backend}", headers: { "a key": b } }`,
    env: {},
    says: /headers/,
  },
  {
    name: 'gRPC',
    file: `{ exporter: otlp, endpoint: "${backend}" }`,
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    says: /cannot speak grpc/,
  },
  {
    name: 'an unknown sampler',
    file: `{ exporter: otlp, endpoint: "${backend}" }`,
    env: { OTEL_TRACES_SAMPLER: 'x' },
    says: /unknown sampler/,
  },
  {
    name: 'a share above one',
    file: `{ exporter: otlp, endpoint: "${backend}" }`,
    env: { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    says: /unknown sampler/,
  },
];

for (const { name, file, env, says } of refused) {
  test(`own traces: the file asks for ${name}, which is a fault`, () => {
    const load = (): unknown =>
      loadConfig({ validators, file: 'a.yaml', text: `telemetry: { traces: ${file} }`, env, evaluators: members });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(says);
  });
}

test('own traces: variables that lead back to this service are answered with a warning, and the service starts without', () => {
  const env = { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const { config, warnings } = loadConfig({ validators, file: 'a.yaml', text: '', env, evaluators: members });
  expect(config.ownTraces).toBeUndefined();
  expect(warnings.map(({ problem }) => problem)).toEqual([expect.stringMatching(/stays off: it leads back to this service/)]);
});

const printed: readonly {
  readonly name: string;
  readonly text: string;
  readonly env: { readonly [name: string]: string };
  readonly want: object;
}[] = [
  { name: 'none', text: '', env: {}, want: { exporter: 'none' } },
  {
    name: 'those of variables, without secrets',
    text: 'telemetry: { traces: { headers: { key: s3cret } } }',
    env: { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://u:s3cret@host:6006', OTEL_TRACES_SAMPLER: 'always_on' },
    want: { exporter: 'otlp', endpoint: 'http://***@host:6006/v1/traces', sample: 1, headers: { key: '***' } },
  },
  {
    name: 'that variables ask for them in vain',
    text: '',
    env: { ...on, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
    want: { exporter: 'none' },
  },
];

for (const { name, text, env, want } of printed)
  test(`own traces: what is printed as in force shows ${name}`, () => {
    const { printed } = loadConfig({ validators, file: 'a.yaml', text, env, evaluators: members });
    expect(printed).toMatchObject({ telemetry: { traces: want } });
  });
