// Starts npm's emulate as GitHub, with one App: node emulate.mjs NODE_MODULES PORT < settings.json
// Prints {"url": …} when it listens, and ends when its standard input does.
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, port] = process.argv.slice(2)
const { createEmulator } = await import(pathToFileURL(join(folder, 'emulate/dist/api.js')))
const lines = createInterface({ input: process.stdin })
const [line] = await once(lines, 'line')
const settings = JSON.parse(line)
const github = await createEmulator({
  service: 'github',
  port: Number(port),
  seed: {
    tokens: { 'token-of-the-reporter': { login: 'reporter', scopes: ['repo'] } },
    github: {
      users: [{ login: 'reporter', name: 'Reporter' }, { login: 'maintainer', name: 'Maintainer' }],
      orgs: [{ login: 'octo-org', name: 'Octo', members: [{ login: 'maintainer', role: 'admin' }] }],
      repos: [{ owner: 'octo-org', name: 'octo-repo', auto_init: true }],
      apps: [
        {
          app_id: settings.app_id,
          slug: 'explainbot',
          name: 'explainbot',
          private_key: settings.private_key,
          permissions: { issues: 'write', contents: 'read', metadata: 'read' },
          events: ['issues', 'issue_comment'],
          webhook_url: settings.webhook_url,
          webhook_secret: settings.webhook_secret,
          installations: [{ installation_id: 100, account: 'octo-org', repository_selection: 'all' }],
        },
      ],
    },
  },
})
console.log(JSON.stringify({ url: github.url }))
await once(lines, 'close')
await github.close()
