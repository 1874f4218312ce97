/** Builds the message of a webhook about an alert. The same change of an alert gives the same message. */
import { hash } from 'node:crypto';
import type { AlertNotice } from '../../model/alert.ts';
import { timeText } from '../../model/timestamp.ts';
import type { MessageSettings } from '../settings.ts';
import { plain } from './webhook-message.ts';

export const alertMessageType = 'tracejury.alert';

export function alertMessage(notice: AlertNotice, { body }: Pick<MessageSettings, 'body'>): { readonly id: string; readonly body: string } {
  const { alert, agent, kind, sinceMs } = notice;
  const id = `msg_${hash('sha256', JSON.stringify([alert, agent ?? null, kind, sinceMs]), 'hex').slice(0, 32)}`;
  return { id, body: JSON.stringify(body === 'slack' ? slackBody(notice) : jsonBody(notice)) };
}

function jsonBody({ alert, when, agent, kind, sinceMs, atMs, figure, threshold, explanation, version, against }: AlertNotice): object {
  return {
    type: alertMessageType,
    timestamp: timeOf(atMs),
    data: {
      alert,
      state: kind,
      when,
      agent: agent ?? null,
      since: timeOf(sinceMs),
      figure: figure ?? null,
      threshold,
      explanation,
      version: version ?? null,
      against: against ?? null,
    },
  };
}

function slackBody({ alert, agent, kind, when, explanation }: AlertNotice): object {
  const what = kind === 'firing' ? 'fires' : 'is over';
  const text = [`*${plain(alert)}* ${what} for ${plain(agent ?? 'runs without an agent')}`, plain(explanation), plain(when)].join('\n');
  return { text, unfurl_links: false, unfurl_media: false };
}

function timeOf(ms: number): string {
  return timeText(BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n);
}
