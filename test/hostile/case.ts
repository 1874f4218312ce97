/** One hostile input and what must become of it. */
import type { Target } from './target.ts';

export interface HostileCase {
  readonly name: string;
  /** Makes the input, with a new trace id; the returned function sends it. */
  readonly prepare: (trace: string) => Send;
  readonly want: Wanted;
}

export type Send = (at: Target) => Promise<Answer>;

export interface Answer {
  /** An HTTP status, a gRPC code, `cut off`, `faults` or `fine`. */
  readonly status: string;
  /** The message of a refusal or of a partial success. */
  readonly says: string;
  /** Rejected items, as the partial success counts them. */
  readonly rejected: number;
}

export interface Wanted {
  readonly status: string;
  readonly says?: RegExp;
  /** Spans and records: by the metrics, which the answer must agree with. */
  readonly accepted?: number;
  readonly rejected?: { readonly [reason: string]: number };
  /** Runs of the case's trace that the API knows at the end. */
  readonly runs?: number;
  /** Requests as the metrics count them: `http traces 413 otlp_too_large`. */
  readonly requests: { readonly [labels: string]: number };
  /** Further counts of the metrics page. */
  readonly counts?: { readonly [sample: string]: number };
  /** Verdicts of `tool_call_validity`, for each run: status, and the score or the reason. */
  readonly verdict?: string;
  /** A run so large that the service is known to need more than `turnMsMax` for it in one piece: milliseconds of the processor. */
  readonly turnMs?: number;
}

/** No turn of the service's event loop takes longer, in milliseconds of the processor. */
export const turnMsMax = 50;

const request = (labels: string): { readonly requests: Wanted['requests'] } => ({ requests: { [labels]: 1 } });

/** Taken as a whole. */
export const taken = (accepted: number, more: Partial<Wanted> = {}): Wanted => ({
  status: '200',
  accepted,
  ...request('http traces 200'),
  ...more,
});

/** Taken but for some, each of the others accepted. */
export const partly = (rejected: { readonly [reason: string]: number }, more: Partial<Wanted> = {}): Wanted =>
  taken(1, {
    rejected,
    runs: 1,
    says: new RegExp(
      `^${Object.keys(rejected)
        .map((reason) => `${reason} \\(\\d+\\)`)
        .join(', ')}`,
    ),
    ...more,
  });

export const refused = (status: number, reason: string, says: RegExp, more: Partial<Wanted> = {}): Wanted => ({
  status: String(status),
  says,
  ...request(`http traces ${status} ${reason}`),
  ...more,
});

export const malformed = (says: RegExp = /not a valid OTLP request/): Wanted => refused(400, 'otlp_malformed', says);
export const tooLarge = (says: RegExp = /larger than limits/): Wanted => refused(413, 'otlp_too_large', says);

/** Inputs that Node's parser does not take. */
export const notHttp = (status = 400): Wanted => ({ status: String(status), ...request(`http other ${status} http_${status}`) });
