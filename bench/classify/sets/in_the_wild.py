"""Sentences of applications as their authors wrote them, changed only in what they name.

Four parts, each gathered and labelled when the tables stood and asked once before anything was changed for it: what
other people's programs raise where the class or the status tells the meaning (the ordinary "not found" left out), what
they raise with a class that tells nothing, sentences that say the common things as nobody says them twice, and a last
helping of the second kind.
"""

from __future__ import annotations

from bench.classify.case import Cases
from bench.classify.sets.sentences import listed, says

CASES = Cases(held_back=True)

BY_MEANING = r"""
== CONFLICT
An attorney with this email already exists
Username already exists
user is already a member
Evidence can only be added to an active goal.
A group must keep at least one admin
Classroom code already exists.
Embedder is locked after the first document was processed
Phone already registered
this task already repeats
Model name already exists.
The last active Dean cannot be deactivated.
rerank not available in current status
The main instance cannot be archived.
This receipt conflicts with a prior request for the same key.
This course is not active.
Race is not pending or does not exist.
Can't perform this operation due to current chat state
Only failed or stalled imports can be resumed.
Payment is not payable.
Reload this dashboard before saving.
not enough players to start the game
cannot remove the last member from a household
Only listings with status 'moderation' can be approved
Favourite already included
Collision: that invite code was taken a moment ago
== FORBIDDEN
You can only cancel your own orders.
Not a member of this organization
You can only update your own reviews
Only project owners and administrators can create assets.
You do not have permission to access this feature.
You are not a member of this room.
Cannot manage inventory lookups: role 'viewer' may only read
Only the platform super admin can change tab access
Inactive user
Not authorized to create invoices
Access denied to this organization
Not enough permissions
Access denied: path outside samples directory
Messenger integration is switched off for your organisation
== UNAUTHORIZED
Missing signature
Authentication required.
Authentication credentials were not provided.
No token found
INVALID PASSWORD
Invalid Credentials
OAuth token has expired. Please re-authenticate.
Login failed: User already has an active session on another terminal
Missing Spotify access token
Invalid tokens
Bad secret
User context or role missing from the session: sign in
Old password is incorrect.
== CONFIGURATION_ERROR
JWT_SECRET not configured on server
OPENROUTER_API_KEY missing from environment
DATABASE_URL is not set in environment variables.
RABBITMQ_PORT must be an integer.
No configuration to save
Configuration not loaded
AI estimation is not available - OPENAI_API_KEY is not configured
Tavily is not configured
Password management is not configured.
db not configured
QDRANT_URL is not set
GROQ_API_KEY not set
GitHub Token secret is missing or empty.
secret provider is not configured
GEMINI_API_KEY is not configured on server.
== RATE_LIMITED
Rate limit hit (HTTP 429).
Gemini rate limit exceeded
rate limit, please retry
simulated 429
Too many submissions - please try again later
== SERVICE_UNAVAILABLE
Public storefront rendering is temporarily unavailable
Malware scanner is unavailable
A required dependency is unavailable.
Assistant unavailable
ACM not available
Chat service unavailable
no nodes available
a backend service is unavailable, try again
agent conversations are not available on this host
PI0.5 server disconnected while receiving a message.
pi rpc connection closed
last.fm isn't answering
server closed (rc=1)
Failed to connect to GoLinks API.
Model not loaded yet
Pause service failed
GitHub API error.
no reply to tools/list
== TIMEOUT
quality case/global deadline exhausted
solve took longer than 120s
agent did not reach the declared interruption point within 40 s
waiting for loop device timed out
Hub database query timed out
The model request timed out.
Proxy timeout connecting to backend.
run_async() timed out after 30s
no response after 20 seconds
== NOT_FOUND
student not found
Unknown command: frobnicate
Investment program not found
STORE_NOT_FOUND
No symbols found in instruments table.
No platform performance records found.
No users found in the response.
Onboarding does not exist
Entity not found in this organization
No plan exists to edit yet.
xmllint not found. Install libxml2 utilities first.
Requested ratings column not found: 'stars'
Fetch by id gave nothing: order 17 is not in the ledger
Docker Compose not found. Install Docker Desktop.
== VALIDATION_ERROR
Deployment and language are required
delivery_address_coords_missing
No audio was provided.
endTime must be strictly after startTime
Invalid file buffer
Comment content is required
Sequence must be greater than 0
Either skill_id or skill_name must be provided.
An issue cannot be its own parent.
This subdomain slug is reserved for system operations.
Time must be in HH:MM format.
Phone number must have at least 9 digits.
Targeted score must be less than or equal to residual score
Invalid location data type
A location has to be specified.
'Date From' must be before 'Date To'.
Order ID and amount are required.
market not supported
Merge into one of the ticked pouches, or a new pouch.
Ships cannot overlap!
No extractable text found in PDF.
correct_option must be one of the decision's options.
languages or language_ids is required
The confirmation token targets a different page.
A signature is required before you can submit
give a faction, a system or a mission type
No pattern provided for tr
MCP servers must be a JSON object
'days' exceeds 400 characters
weather does not accept: colour
Idempotency-Key is required
volume_path belongs to a different volume
empty command
Invalid view_range. It should be a list of two integers.
== SERIALIZATION_ERROR
Could not parse. No hypernova properties found.
Invalid Hessian message marker: 0x41
Model returned empty content that is no JSON
RSS without a channel: malformed feed XML
Failed to encode image
non-utf8 payload: invalid start byte
== INTERNAL_ERROR
Failed to save message
Error fetching stock data
An unexpected error occurred during sync.
Failed to update storage capacity
Failed to create menu item
An error occurred while creating the user.
Could not load expenses
tesseract exploded
Dataloader returned no batches
No measurement value available!
insert_many errors: [..]
evaluation failed with status 'error'
Failed to list datasets
== REQUEST_CANCELLED
Computer action was not approved by the user
upload cancelled
request aborted by client
"""

BY_WORDS_ALONE = r"""
== VALIDATION_ERROR
Unsupport mode
ID should be a positive INTEGER number
Invalid Character In Username
Credit amount must be a valid dollar amount.
Full name must be at least 2 characters.
A valid email is required
expense_date_invalid
accounting.invalidPreset
INVALID_DATE
a reason is required to deactivate an item
setting key is invalid.
numerical domain expected, got ZZ
--batch-size must be greater than 0.
The JSON root must be a list of objects.
--category requires --all flag
--record-video requires --record DIR
Price and quantity must be non-negative.
Ask me something about your shifts.
Columns must be specified for impute operation
No video segments provided for concatenation
Content is required for 'write' operation.
Email body is empty after processing
command must not be empty
metadata must be an object when provided.
missing source.repo for github.com
repo must be provided
No entity_id provided
Invalid notify platform.
Invalid detected version. Expected 2 splits. 1-2-3
CSV file is empty
athleteId is required
Unsupported document type: remito
Invalid service tier
account SID is empty
NetworkIdentifier.SubNetworkIdentifier.Network is missing
ToolRouter is required for MCP execution
chat_id and text are required
== NOT_FOUND
Reservation 9 not found.
course_not_found
Radar object (id=7) does not exist
The planet not exist
Couldn't find current_user in datastore
No such command: foo
Integration entry not found
ContentCategory with id 7 does not exist.
Battle not found.
Not such file or directory: a.txt
No tax rate for year
No posts found!
User not found with this id
Payment not found
Order not found
No data returned from yfinance
No contract requests available.
Restore failed. Wrong vault name 'v' supplied: No such backup
== CONFLICT
No rooms of that type are available during the specified period
Radar object (id=7) already exists
INSUFFICIENT_STOCK
Policy is already active and enforced
Email already registered
Email already exists
permission code already exists
level controller already started
Payment already completed for this booking
== UNAUTHORIZED
VirusTotal API key is invalid or expired.
Sign in to continue.
unauthenticated user!!!
Authentication required to perform this operation.
REFRESH_TOKEN_MISSING
Stripe rejected the API key (401)
Token missing
invalid_auth
Login failed
You must be logged in
invalid Canvas credentials
Missing socket auth token.
Unauthorized, Please Login
Error during relogin: login required
== FORBIDDEN
Access denied to child emergency contacts
Permission denied
path escapes project root
Access denied
Admin access required
The message export feature is not enabled
== CONFIGURATION_ERROR
Webhook secret not configured
TELEGRAM_BOT_TOKEN is not configured.
no Anthropic API key configured
Supabase is not configured
ReptileCare is not set up
Config file not found: a.yaml
notifier is not configured
Razorpay client not configured. Please set RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET
Missing PAYMENT_TO_TOKEN environment configuration.
No loaded Fitorb config entries
== SERVICE_UNAVAILABLE
Network error
Error connection to server
cannot reach agent at http://127.0.0.1:8000
API failed
network_error
HTTP 503: down
Device communicating error.
Error communicating with API
Meituan client not available
Reconnect failed!
Coordinator data not available
Tachometer repository is not available
api down
The payment gateway could not be reached. Try again in a moment.
Querying API failed. Error: x
== TIMEOUT
Request timed out
historical_timeout
Failed to complete checks for cpu in time! Next run cancelled
== DATABASE_ERROR
Database integrity error during transaction creation.
== SERIALIZATION_ERROR
Invalid response from Microsoft Graph API call.
Unexpected weeklyusage payload
JSON could not be parsed: x
Encoding error: x
Error occurred in parsing CSV file: x
Can't parse file: Initial Element is not <IGB_STYLESHEET>.
== INTERNAL_ERROR
Could not process this file
fail - cant get tick
Error creating work package form
Could not write VOICE_MODE to Redis. The switch was not changed.
GraphQL query failed
FFmpeg encoder produced empty output.
Stored file could not be read.
Operation failed
Update Memo Error : x
Failed to upload file to IPFS: x
Failed to create session
Couldnt delete Income
adding book failed
send failed
MCP tool returned an error
test
boom
"""

IN_OTHER_WORDS = r"""
== NOT_FOUND
We have no record of that shipment
I couldn't find anything about 'quux'
That page doesn't seem to exist
The requested calendar is gone
Project apollo is not known here
The object you requested was not located
There isn't a user by that name
No articles match your query
Search returned 0 results
Unable to retrieve ticket 9: it was deleted
This video is no longer there
The key was not present in the store
Zero rows matched the given id
Could not open notes/a.txt: No such file or directory
The customer id does not correspond to any account
Label 'bug' not defined in this repository
Branch main not found in upstream origin
Empty result set for ticker ZZZZ
Such a job was never created
Nothing exists at /a/b
file or directory missing
cannot stat 'x': No such file or directory
Device 3 not recognised by the hub
Table reservation 17 unknown
no weather station near the coordinates
symbol TSLAA may be delisted; no data found
== VALIDATION_ERROR
Please use a date after 2020
The e-mail you entered looks wrong
'abc' is not a valid UUID
Value 12 is not allowed for 'month'
Only integers are accepted here
You may select at most 3 tags
You need to pass either a name or an id
The query contains a forbidden keyword
Amount has to be positive
A title is needed
Expected 3 columns, found 5
price: Input should be a valid number
Body doesn't conform to the schema
String too short
Wrong number of arguments
color 'blurple' is unsupported
The 'limit' parameter exceeds 100
latitude out of range
Your message is 300 characters over the limit
phone number has the wrong format
Only PNG and JPEG images are allowed
filter is malformed
start must precede end
duplicate column in select list
value cannot be converted to integer
expected str, not int
the field "name" is mandatory
you did not provide a query
I need a city to look up
timezone 'Mars/Base' is not recognised
Prompt too long: 210000 tokens > 200000 maximum
illegal character in path
negative quantity
division code must consist of 3 letters
an answer of more than 500 words is not possible
unknown unit 'parsec'
unknown format: docy
sort must be asc or desc
cell reference A0 is invalid
missing 'q'
== UNAUTHORIZED
Your login has expired
The token is not valid for this host
We couldn't verify your identity
You aren't signed in
Access token missing or malformed
Username or password wrong
Key not accepted by the service
Credentials have been revoked
Session no longer valid, log in again
The API key supplied was rejected
Authorization header required
no valid session
Unable to authenticate with the provider
User could not be authenticated
The signature does not match
token signature is invalid
Auth failed
certificate of the client was not accepted: unauthenticated
Login required to view this resource
invalid bearer token
== FORBIDDEN
You aren't allowed to do that
Your role does not permit this
This action needs admin rights
The repository is private and you were not invited
Not enough privileges to drop table
Guests cannot create channels
Editing this page is restricted to moderators
Tool is blocked by policy
Writing outside the workspace is not permitted
Viewer accounts can't publish
You lack the scope 'calendar.write'
Your organization has disabled this app
Access to this folder is limited
the bot was kicked from the channel
bot is not in the channel
Feature requires the enterprise plan
user is not a collaborator on the repo
you don't have the right to merge
operation disallowed in sandbox
Access from your region is blocked
== CONFLICT
That name is taken
The booking overlaps an existing one
Someone changed the file since you read it
A backup is already running
This ticket has been closed and can't be edited
You've already reviewed this pull request
The room is occupied at that time
Revision 3 is outdated
Object was updated concurrently
Resource is being deleted
The document is locked by another session
the record has changed since it was last read
Cannot start: instance is stopping
The queue is not empty
there is an unfinished migration
The seat is no longer available for booking: already sold
Can't rename: target exists
the branch has diverged
two edits collide
Cannot merge: conflicts in a.txt
== RATE_LIMITED
You've hit the API limit
Too many requests from this IP
Slow your requests
Request budget exhausted for this hour
Try again in 30 seconds: limit of 5 calls per minute
You have no remaining calls today
Max requests per day exceeded
API call frequency exceeded
the burst limit was exceeded
Plan limit exceeded: 1000 requests
Rate of requests too high
Quota is used up until tomorrow
== TIMEOUT
The upstream took longer than 10 s
Nothing came back within 30 seconds
Operation exceeded the time allowed
gave up after 3 minutes
The call did not complete in time
browser timed out loading the page
time budget of 5 s used up
Request expired before it was served
lock could not be acquired within 5s
deadline was missed
query ran for too long and was stopped
no answer from the device after 5 seconds
== SERVICE_UNAVAILABLE
The weather service is down
Cannot talk to the database server
Failed to open a connection
The remote service returned an error page
Upstream is not healthy
Host could not be reached
We're experiencing technical difficulties
the backend is restarting
API is temporarily out of service
No route to the broker
The mail server hung up
connection pool is closed
stream ended unexpectedly
peer closed connection without sending complete message body
The search cluster is unreachable
Unable to contact the licence server
Too busy right now, come back later
received 503 from upstream
DNS resolution failed
remote host is not responding
== DATABASE_ERROR
The transaction could not be committed
Failed to execute SQL query
could not insert row
Table 'orders' is missing
database is corrupted
integrity error in the store
lost lock on row: deadlock
db write failed
cannot open the database file
Rollback failed
== SERIALIZATION_ERROR
The answer was not valid JSON
Response body could not be decoded
The feed is not well-formed XML
Can't decode the image
unexpected end of input
garbage after JSON document
Got HTML where JSON was expected
Failed to read the spreadsheet: file is corrupt
bad zip file
cannot pickle object
invalid UTF-8 in response
model output is not parseable as JSON
== CONFIGURATION_ERROR
No endpoint configured for region eu
The server has no credentials for Jira
Set the API key in the settings
Missing API_TOKEN
The SMTP host is not set
config.yaml: unknown key 'portt'
No database URL given in config
SLACK_TOKEN env var missing
LLM provider isn't set up
The server is misconfigured
The environment variable FOO must be defined
Required setting 'base_url' is absent
cannot find configuration file
plugin 'x' is not installed
git executable not found in PATH
== REQUEST_CANCELLED
The user cancelled the dialog
Upload was cancelled
Stopped by user
The client hung up before we were done
Aborting: user said no
request was withdrawn
== INITIALIZATION_FAILED
Could not initialise the model
Server failed to start
Plugin could not be loaded at startup
initialization of cache failed
== INTERNAL_ERROR
Unexpected failure
Something broke
We hit a snag
An error has occurred
Unhandled case
Could not render the chart
Failed to generate the summary
Worker crashed
unexpected result of calculation
Step failed
this code path should be unreachable
inconsistent cache
Task 7 ended with errors
the planner gave up
Exit status 2
"""

LAST = r"""
== VALIDATION_ERROR
INVALID_TIMESTAMP
--url must be a valid HTTP or HTTPS URL
Configuration kind must be board or project
branch reason must not be blank
invalid project id
workflow file has an invalid schema
a template revision starts at 1 and only goes up
API key or URL contains invalid characters
reason must be a non-empty string
quality must be 1-4
Sequence consists entirely of unknown amino acids.
request ID must be 1-128 letters, numbers, dots or colons
UPLOAD_TOO_LARGE
url must be an http:// or https:// URL
Export path is empty.
Plugin source must be a regular file
Plugin request exceeded the size limit
work item id does not contain a safe branch fragment
--cached accepts at most one revision
URL is required for adding a remote.
Rule file must contain at least one rule.
--publish needs --base-sha or GIT_COMMIT
You can't blacklist yourself or the owner.
Error parsing coords: 3,x
unknown option
size must be positive
Filename must be present
A folder upload must contain a single top-level folder
Seat count must be at least 1.
Invalid booking path
Price required for limit orders
Each shared step needs an execution_step_id and label
title is required
Volume must be positive
Agent result must be a JSON object
That QR code isn't valid for this class.
Object 'cube' does not have a UV layer
invalid source
No enriched profiles to score.
Nothing to compile: no output folder.
== NOT_FOUND
unknown camera 'ghost'
Application not found
a.json does not exist
creator profile not found
'x' has no selection 'y'
The answer sheet no longer exists.
jobs.not_found
TASK_NOT_FOUND
git executable not found
That section is not in this template.
Custom not found.
Clinic not found or inactive.
company not found
room not found
Resource not found
repository root not found
Ollama CLI not found. Please install it first.
There is no available queue for this job
no_stores_located
== SERVICE_UNAVAILABLE
GATEWAY_UNREACHABLE
The service is currently unavailable.
Corpus backend circuitbreaker
Backend failed
connection refused
UPSTREAM_ERROR
Service container not available
Session not connected.
dropout: connection lost
== TIMEOUT
timeout
== CONFIGURATION_ERROR
BACKEND_PUBLIC_URL is not configured.
fast role not configured
XAI_API_KEY is not configured.
GEMINI_API_KEY is not set. Add it as an environment variable
ollama package not installed. Run: pip install ollama
AZURE_OPENAI_ENDPOINT or OPENAI_BASE_URL is required for Entra
OPENROUTER_API_KEY is not set
cloudinary is not installed. Run: pip install cloudinary
simconf contains no `SIMULATION` settings
Failed to open environment file .env:
PyYAML is required
unresolved placeholder in rendered configuration
== FORBIDDEN
HOST_DENIED
S3 write refused by selected endpoint
FORBIDDEN
only the post owner can mark a solution
Access denied: Path outside data directory.
== UNAUTHORIZED
OpenRouter rejected the API key (401 Unauthorized)
missing session token
api_key and api_secret are required for live calls
== CONFLICT
Cannot create a revision for an already CONVERTED quotation.
operations_revision_conflict
Wrong status!
! [rejected] (non-fast-forward)
conflict
Git index has unmerged entries
There is already a game ongoing
Flight is no longer available (sold out)
Order is not in DRAFT status
Found another plugin with the same keyword
request is not scoreable
Not prepared
== RATE_LIMITED
too many login attempts - wait a minute
== SERIALIZATION_ERROR
Invalid JSON
Market data manager returned invalid candle data.
Ollama returned an empty response
Codex App Server sent a message with non-object params
== REQUEST_CANCELLED
Agent interrupted by user
== INTERNAL_ERROR
Child failed
Order failed
boom
Unexpected retry loop exit
no result message from the model
Could not prepare reservation search: x
observe produced no OBS line
Could not allocate a unique session path
"""

PARTS = {
    "by meaning": BY_MEANING,
    "by words alone": BY_WORDS_ALONE,
    "in other words": IN_OTHER_WORDS,
    "last": LAST,
}

for sentences in PARTS.values():
    for label, sentence in listed(sentences):
        says(CASES, label, sentence)
