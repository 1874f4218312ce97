/** Builds the message of a webhook about an alert. The same change of an alert gives the same message. */
import { hash } from 'node:crypto';
import type { AlertNotice } from '../../model/alert.ts';
import { timeText } from '../../model/timestamp.ts';
import type { MessageSettings } from '../settings.ts';
import { plain } from './webhook-message.ts';

export const alertMessageType = 'tracejury.alert';

export function alertMessage(
  notice: AlertNotice,
  { body, console }: Pick<MessageSettings, 'body' | 'console'>,
): { readonly id: string; readonly body: string } {
  const { alert, agent, kind, sinceMs, atMs, isRepeated, runsPath } = notice;
  const link = console === undefined ? undefined : `${console}${runsPath}`;
  const id = `msg_${hash('sha256', JSON.stringify([alert, agent ?? null, kind, sinceMs, ...(isRepeated === true ? [atMs] : [])]), 'hex').slice(0, 32)}`;
  return { id, body: JSON.stringify(body === 'slack' ? slackBody(notice, link) : jsonBody(notice, link)) };
}

function jsonBody(
  { alert, when, agent, kind, sinceMs, atMs, figure, threshold, explanation, version, against }: AlertNotice,
  link: string | undefined,
): object {
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
      ...(link === undefined ? {} : { link }),
    },
  };
}

function slackBody({ alert, agent, kind, when, explanation, isRepeated }: AlertNotice, link: string | undefined): object {
  const what = kind === 'over' ? 'is over' : isRepeated === true ? 'still fires' : 'fires';
  const text = [
    `*${plain(alert)}* ${what} for ${plain(agent ?? 'runs without an agent')}`,
    plain(explanation),
    plain(when),
    ...(link === undefined ? [] : [`<${link.replaceAll('&', '&amp;')}|the runs>`]),
  ].join('\n');
  return { text, unfurl_links: false, unfurl_media: false };
}

function timeOf(ms: number): string {
  return timeText(BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n);
}
