/** The routes of the session of a browser: who is signed in, sign-in with a token, sign-out. */
import type { JsonObject } from '../../model/json.ts';
import { type Caller, Refusal, rights, type Route, text, type Visit } from './route.ts';

const orNull = (type: string, description: string): JsonObject => ({ type: [type, 'null'], description });
const tokenCharsMax = 4_096;

const answer: JsonObject = {
  type: 'object',
  required: ['sign_in_needed', 'ways', 'name', 'rights', 'tenant', 'anti_forgery', 'expires_at'],
  properties: {
    sign_in_needed: { type: 'boolean', description: 'True: nobody may read without a token or a sign-in.' },
    ways: { type: 'array', items: { enum: ['token', 'oidc'] }, description: 'Ways to sign in.' },
    name: orNull('string', 'Name of the token, or of the person. Null: the caller has none.'),
    rights: { type: 'array', items: { enum: rights }, description: 'What the caller may do.' },
    tenant: orNull('string', 'The only tenant that the caller sees; null: all.'),
    anti_forgery: orNull('string', 'For the header `X-Anti-Forgery` of changes with the cookie of the session.'),
    expires_at: { type: ['string', 'null'], format: 'date-time', description: 'End of the session; null: there is none.' },
  },
};

export const browserSessionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/session',
    summary: 'The caller, what it may do, and how to sign in.',
    isOpen: true,
    path_parameters: {},
    query_parameters: {},
    answer,
    handle: async (_parts, _query, _body, visit) => sessionJson(visit, visit),
  },
  {
    method: 'post',
    path: '/session',
    summary:
      'Signs a browser in with a token that may `read`: the answer sets a cookie for 12 hours. A start of the service ends all sessions; on PostgreSQL they go on, for every replica. Changes with the cookie need the header `X-Anti-Forgery`.',
    isOpen: true,
    path_parameters: {},
    query_parameters: {},
    body: {
      bytesMax: 8 * 1_024,
      taken: {
        type: 'object',
        required: ['token'],
        additionalProperties: false,
        properties: { token: { type: 'string', minLength: 1, maxLength: tokenCharsMax } },
      },
      schema: {
        type: 'object',
        required: ['token'],
        additionalProperties: false,
        properties: { token: { ...text, description: 'Value of a token of `listen.tokens`.' } },
      },
    },
    refusals: { 401: 'No token that may read has this value.', 429: 'Too many sign-ins failed within a minute.' },
    answer,
    async handle(_parts, _query, body, visit) {
      const found = await visit.signIn(String((body as JsonObject)['token']));
      if (found === 'too_many')
        throw new Refusal(429, { code: 'too_many', message: 'Too many sign-ins have failed.', todo: 'Try again in a minute.' });
      if (found === 'refused')
        throw new Refusal(401, {
          code: 'unknown_token',
          message: 'No token that may read has this value.',
          todo: 'Give the value of a token of listen.tokens that may read.',
        });
      return sessionJson(visit, found);
    },
  },
  {
    method: 'delete',
    path: '/session',
    summary: 'Signs the browser out. Without a session it changes nothing.',
    isOpen: true,
    path_parameters: {},
    query_parameters: {},
    answer: { type: 'object', required: ['signed_out'], properties: { signed_out: { type: 'boolean' } } },
    async handle(_parts, _query, _body, visit) {
      await visit.signOut();
      return { signed_out: visit.session !== undefined };
    },
  },
];

function sessionJson({ isSignInNeeded, ways }: Visit, { name, rights: held, tenant, session }: Caller): JsonObject {
  return {
    sign_in_needed: isSignInNeeded,
    ways: [...ways],
    name: name ?? null,
    rights: [...held],
    tenant: tenant ?? null,
    anti_forgery: session?.antiForgery ?? null,
    expires_at: session === undefined ? null : new Date(session.expiresAtMs).toISOString(),
  };
}
