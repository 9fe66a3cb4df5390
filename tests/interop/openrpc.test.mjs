// Every document under systems/ is one of OpenRPC: its own meta-schema says so, checked by our engine.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

const require = createRequire(import.meta.url)
const source = process.env.SOURCE
const fits = join(process.env.BUILD, 'tests/protocol_fits')

// The meta-schema refers to one that no package brings; draft 7 stands in for it.
const there = 'https://meta.json-schema.tools/'
const draft7 = require('ajv/dist/refs/json-schema-draft-07.json')
const standIn = {
  ...draft7,
  $id: there,
  definitions: { ...draft7.definitions, JSONSchemaObject: { properties: { $ref: { type: 'string' } } } }
}
// It writes that address in two ways, and names it as its dialect, which is that of draft 7.
const meta = JSON.parse(
  JSON.stringify(require('@open-rpc/meta-schema').openrpcDocument).replaceAll(`"${there.slice(0, -1)}"`, `"${there}"`)
)
meta.$schema = draft7.$schema

const folder = mkdtempSync(join(tmpdir(), 'openrpc-'))
test.after(() => rmSync(folder, { recursive: true }))
const write = (name, value) => {
  writeFileSync(join(folder, name), JSON.stringify(value))
  return join(folder, name)
}
const check = (...documents) => {
  const { status, stdout } = spawnSync(fits, [write('other.json', standIn), write('meta.json', meta), ...documents])
  return { status, text: String(stdout) }
}

test('all documents fit', () => {
  const documents = readdirSync(join(source, 'systems'), { recursive: true })
    .filter((name) => name.endsWith('.openrpc.json'))
    .map((name) => join(source, 'systems', name))
  assert.ok(documents.length > 10)
  const { status, text } = check(...documents)
  assert.equal(status, 0, text)
})

test('what OpenRPC does not know does not fit', () => {
  const sound = { openrpc: '1.3.2', info: { title: 't', version: '1' }, methods: [] }
  assert.equal(check(write('a.json', sound)).status, 0)
  for (const broken of [
    { ...sound, colour: 'red' },
    { ...sound, openrpc: '9.9.9' },
    { ...sound, methods: [{ name: 'a' }] },
    { ...sound, components: { schemas: { A: { type: 'text' } } } }
  ])
    assert.equal(check(write('b.json', broken)).status, 1, JSON.stringify(broken))
})
