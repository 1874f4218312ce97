/** Requests as a person may see them: who is allowed to send them is hidden. */
import { mask, maskedUrl } from '../../config/secrets.ts';
import type { PlannedRequest } from '../../exporters/exporter.ts';
import { jsonText, type JsonObject } from '../../model/json.ts';

/** Headers that say nothing of an account. Any other may be a key, or be named by the configuration, whose headers are secret. */
const plainHeaders: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);

export interface ExporterRequests {
  readonly exporter: string;
  /** Undefined: it does not tell. */
  readonly requests: readonly PlannedRequest[] | undefined;
}

export function requestsJson(all: readonly ExporterRequests[]): string {
  const list = all.flatMap(({ exporter, requests = [] }) =>
    requests.map((request): JsonObject => ({
      exporter,
      method: request.method,
      url: hiddenUrl(request),
      headers: hiddenHeaders(request),
      ...(request.body === undefined ? {} : { body: request.body }),
    })),
  );
  return indented({ requests: list });
}

export function requestsText(all: readonly ExporterRequests[]): string {
  return all
    .map(({ exporter, requests }) => [`# ${exporter}: ${countText(requests)}`, ...(requests ?? []).map(requestText)].join('\n\n'))
    .join('\n\n');
}

function countText(requests: readonly PlannedRequest[] | undefined): string {
  if (requests === undefined) return 'sends nothing that could be shown';
  return requests.length === 1 ? '1 request' : `${requests.length} requests`;
}

function requestText(request: PlannedRequest): string {
  const headers = Object.entries(hiddenHeaders(request)).map(([name, value]) => `${name}: ${value}`);
  return [`${request.method} ${hiddenUrl(request)}`, ...headers, ...(request.body === undefined ? [] : ['', indented(request.body)])].join(
    '\n',
  );
}

function hiddenHeaders({ headers }: PlannedRequest): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, plainHeaders.has(name.toLowerCase()) ? value : mask]));
}

function hiddenUrl({ url, query }: PlannedRequest): string {
  return query === undefined ? maskedUrl(url) : `${maskedUrl(url)}?${query}`;
}

function indented(value: Parameters<typeof jsonText>[0]): string {
  return JSON.stringify(JSON.parse(jsonText(value)), undefined, 2);
}
