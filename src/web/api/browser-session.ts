/** The routes of the session of a browser: who is signed in, sign-in with a token, sign-out. */
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { type Caller, Refusal, rights, type Route, type Visit } from './route.ts';

const tokenCharsMax = 4_096;

/** `ways` and the need of a sign-in are those of the service. */
type Session = Caller & Pick<Visit, 'isSignInNeeded' | 'ways'>;

const caller = api.inline<Session>()({
  sign_in_needed: [
    { ...api.flag, description: 'True when reading requires a token or a sign-in.' },
    ({ isSignInNeeded }) => isSignInNeeded,
  ],
  ways: api.many({ enum: ['token', 'oidc'] }, 'Ways to sign in.'),
  name: api.textOrNull('Name of the token, or of the person. Null when the caller has none.'),
  rights: api.many({ enum: rights }, 'Rights of the caller.'),
  tenant: api.textOrNull('The only tenant that the caller sees; null: all.'),
  anti_forgery: [
    api.textOrNull('Value of the header `X-Anti-Forgery` for changes with the session cookie.'),
    ({ session }) => session?.antiForgery,
  ],
  expires_at: [
    api.orNull(api.time, 'End of the session; null: there is none.'),
    ({ session }) => (session === undefined ? null : new Date(session.expiresAtMs).toISOString()),
  ],
});

export const browserSessionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/session',
    summary: 'The caller, what it may do, and how to sign in.',
    isOpen: true,
    path_parameters: {},
    query_parameters: {},
    answer: caller.schema,
    handle: async (_parts, _query, _body, visit) => caller.write(visit),
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
        properties: { token: { ...api.text, description: 'Value of a token of `listen.tokens`.' } },
      },
    },
    refusals: { 401: 'No token that may read has this value.', 429: 'Too many sign-ins failed within a minute.' },
    answer: caller.schema,
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
      return caller.write({ ...found, isSignInNeeded: visit.isSignInNeeded, ways: visit.ways });
    },
  },
  {
    method: 'delete',
    path: '/session',
    summary: 'Signs the browser out. Without a session it changes nothing.',
    isOpen: true,
    path_parameters: {},
    query_parameters: {},
    answer: api.object({ signed_out: api.flag }),
    async handle(_parts, _query, _body, visit) {
      await visit.signOut();
      return { signed_out: visit.session !== undefined };
    },
  },
];
