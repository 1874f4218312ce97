/** The routes of the first steps: where spans go, and a demonstration. */
import { count, flag, object, textOrNull } from '../../model/resource.ts';
import { Refusal, type Route } from './route.ts';

export const firstStepRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/addresses',
    summary: 'Where the service accepts spans. An address of all interfaces has the host name of the request.',
    path_parameters: {},
    query_parameters: {},
    isOfTenants: true,
    answer: object({
      otlp_http: textOrNull('For `OTEL_EXPORTER_OTLP_ENDPOINT`. Null: the receivers do not listen yet.'),
      otlp_grpc: textOrNull('`host:port`, over TLS with `https://` in front.'),
      token_needed: { ...flag, description: 'True: a request with spans needs a token that may `ingest`.' },
    }),
    handle: async ({ isIngestTokenNeeded }, _query, _body, { otlp }) => ({
      otlp_http: otlp?.http ?? null,
      otlp_grpc: otlp?.grpc ?? null,
      token_needed: isIngestTokenNeeded,
    }),
  },
  {
    method: 'post',
    path: '/demo',
    summary:
      'Loads the demonstration: a day of simulated agent runs, as `tracejury demo` sends it. The runs have the tenant of spans without a token.',
    path_parameters: {},
    query_parameters: {},
    refusals: { 409: 'The demonstration is being loaded.', 503: 'The service accepts no spans now.' },
    answer: object({
      spans: count,
      runs: { ...count, description: 'Runs of agents, without those of their sub-agents.' },
    }),
    async handle({ loadDemo }) {
      const loaded = await loadDemo();
      if (loaded === 'busy') throw new Refusal(409, { code: 'busy', message: 'The demonstration is being loaded.', todo: 'Wait for it.' });
      if (loaded === 'refused')
        throw new Refusal(503, { code: 'overloaded', message: 'The service accepts no spans now.', todo: 'Try again soon.' });
      return { ...loaded };
    },
  },
];
