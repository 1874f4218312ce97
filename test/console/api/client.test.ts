import { expect, test } from 'vitest';
import { addressOf, apiClient, ApiFailure } from '../../../src/console/api/client.ts';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function client(answer: () => Response | Promise<Response>, forgery?: string) {
  const sent: Sent[] = [];
  const signedOut: number[] = [];
  const api = apiClient({
    fetch: async (url, init) => {
      sent.push({ url, init });
      return await answer();
    },
    antiForgery: () => forgery,
    onSignedOut: () => void signedOut.push(1),
  });
  return { api, sent, signedOut };
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json; charset=utf-8' } });

test.each([
  { name: 'without parameters', template: '/runs', given: {}, want: '/api/v1/runs' },
  {
    name: 'with escaped parameters',
    template: '/sessions/{id}',
    given: { path: { id: 'a/b?c' }, query: { tenant: 'x&y', limit: 5, cursor: undefined } },
    want: '/api/v1/sessions/a%2Fb%3Fc?tenant=x%26y&limit=5',
  },
])('api client: an address $name', ({ template, given, want }) => {
  expect(addressOf(template, given)).toBe(want);
});

test('api client: a read gives the answer', async () => {
  const { api, sent } = client(() => json({ runs: [], next: null }));
  expect(await api.get('/runs', { query: { agent: 'a', limit: 1 } })).toEqual({ runs: [], next: null });
  expect(sent).toMatchObject([{ url: '/api/v1/runs?agent=a&limit=1', init: { method: 'GET', credentials: 'same-origin' } }]);
});

test('api client: a change carries its body and the anti-forgery value of the session', async () => {
  const { api, sent } = client(() => json({ deleted: true }), 'f1');
  await api.send('DELETE /annotations/{id}', { path: { id: 'abc' } });
  expect(sent).toMatchObject([{ url: '/api/v1/annotations/abc', init: { method: 'DELETE', headers: { 'x-anti-forgery': 'f1' } } }]);
  expect(sent[0]?.init.body).toBeUndefined();
});

test('api client: a refusal has a code, what is wrong and what would be right', async () => {
  const { api, signedOut } = client(() => json({ error: { code: 'bad_request', message: 'No.', todo: 'Yes.' } }, 400));
  await expect(api.get('/runs', {})).rejects.toMatchObject({ status: 400, code: 'bad_request', message: 'No.', todo: 'Yes.' });
  expect(signedOut).toEqual([]);
});

test('api client: a refusal for want of a sign-in is reported', async () => {
  const { api, signedOut } = client(() => json({ error: { code: 'unauthenticated', message: 'No.', todo: 'Sign in.' } }, 401));
  await expect(api.get('/runs', {})).rejects.toThrow(ApiFailure);
  expect(signedOut).toEqual([1]);
});

test('api client: an answer with several outcomes is an answer', async () => {
  const { api } = client(() => json({ taken: 0, refused: 1, annotations: [] }, 422));
  expect(await api.send('POST /annotations', { body: { annotations: [] } })).toMatchObject({ refused: 1 });
});

test('api client: no answer, and an answer of another server, say so', async () => {
  const silent = client(() => Promise.reject(new TypeError('refused')));
  await expect(silent.api.get('/runs', {})).rejects.toMatchObject({ status: 0, code: 'no_answer' });
  const proxy = client(() => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'content-type': 'text/html' } }));
  await expect(proxy.api.get('/runs', {})).rejects.toMatchObject({ status: 502, code: 'no_api' });
});

test('api client: a request that was given up is not a failure of the service', async () => {
  const abort = new AbortController();
  abort.abort();
  const { api } = client(() => Promise.reject(new DOMException('gone', 'AbortError')));
  await expect(api.get('/runs', {}, abort.signal)).rejects.toThrow('gone');
});
