/** The routes of the first steps: where spans go, and a demonstration. */
import * as api from '../../model/resource.ts';
import { Refusal, type Route } from './route.ts';

export const firstStepRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/addresses',
    summary: 'The addresses where the service accepts spans. An address of all interfaces has the host name of the request.',
    path_parameters: {},
    query_parameters: {},
    isOfTenants: true,
    answer: api.object({
      otlp_http: api.textOrNull('Value for `OTEL_EXPORTER_OTLP_ENDPOINT`. Null until the receivers listen.'),
      otlp_grpc: api.textOrNull('`host:port`, over TLS with `https://` in front.'),
      token_needed: { ...api.flag, description: 'True when a request with spans needs a token that may `ingest`.' },
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
    answer: api.object({
      spans: api.count,
      runs: { ...api.count, description: 'Runs of agents, without those of their sub-agents.' },
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
