/** The confidence of runs agrees with the recordings of SDKs whose collectors are taken out. */
import { expect, test } from 'vitest';
import { confidences } from '../../src/model/evidence.ts';
import { claimsByClass, measured } from './left-out.ts';
import { ownRecordings } from './read.ts';

test('confidence: each class of evidence is as often right as it claims, within a hundredth', () => {
  const classes = claimsByClass(measured(ownRecordings()));
  expect([...classes.keys()]).toEqual(Object.keys(confidences));
  for (const [by, { right, wrong }] of classes) {
    const share = Math.floor(((right + 1) / (right + wrong + 2)) * 100) / 100;
    expect(Math.abs(share - confidences[by]), `${by}: ${right} right, ${wrong} wrong`).toBeLessThan(0.011);
  }
});
