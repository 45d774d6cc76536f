/**
 * Words that people and tools use for the same, a class a line. A word of a question also finds the others of its
 * classes, with less weight. The classes are of whole fields of work and life: none is for one product's tools. `_`
 * joins two words. A word may be in several classes.
 */
const CLASSES = `
create add new make insert register open generate compose draft
build make generate construct compile
delete remove erase drop destroy discard purge clear
update edit modify change alter patch revise adjust set
rename retitle
find search look query lookup locate discover seek
list enumerate browse all overview
get fetch retrieve read view obtain load inspect
details info information describe about
send deliver dispatch submit transmit forward
post publish share
notify alert remind notification ping
upload attach push import put
download export pull save
copy duplicate clone replicate
move transfer relocate migrate
start run launch execute begin trigger invoke boot
stop halt kill terminate shutdown end cancel abort
restart reboot reload rollout redeploy
pause suspend hold snooze freeze
resume continue unpause
enable activate turn_on switch_on
disable deactivate turn_off switch_off mute
close resolve complete finish finalize done
open reopen
approve accept confirm authorize sign_off
reject decline deny refuse
assign delegate allocate owner responsible assignee
join merge combine concatenate unify integrate
split divide separate chunk
compare diff difference contrast versus
convert transform translate format
calculate compute evaluate count sum math arithmetic total
summarize summary digest recap condense shorten overview tldr
analyze analysis analytics insight insights report statistics metrics stats
predict forecast prediction estimate projection
recommend recommendation suggestion advise advice similar
check verify validate test inspect examine
schedule plan arrange book reserve appointment
reschedule postpone move
book reserve booking reservation
invite invitation attendee guest participant
subscribe subscription follow watch
unsubscribe unfollow
comment reply respond answer note remark annotate
upgrade promote
revert undo rollback restore recover
backup snapshot dump archive
lock block restrict ban
grant permission permissions allow access rights role
revoke withdraw
encrypt decrypt cipher
log logs logging trace
monitor watch observe track tracking surveillance
fix repair mend solve debug
buy purchase order shop checkout
sell list
pay payment charge bill billing
refund reimburse money_back chargeback
draw paint sketch illustrate
visualize chart plot graph diagram
play listen stream
record capture
crawl scrape extract spider
parse extract
sync synchronize
deploy release ship rollout publish
scale resize replicas
label tag category mark categorize classify
sort order rank
pin star favorite bookmark save
learn study teach tutor course lesson education
chat talk converse conversation
sum_up summarize
write compose author
remember memory recall store memorize
connect link associate relate
email mail message inbox gmail
message messages dm text sms chat
channel room group
thread conversation discussion
call phone telephone dial
meeting event appointment calendar call session
calendar agenda schedule diary
availability free busy free_busy slot
reminder alarm alert
contact contacts person people address_book
person people user member employee individual
team group squad colleagues coworkers staff
customer client buyer account consumer
company organization business firm enterprise account
lead prospect opportunity
deal opportunity opportunities pipeline sale
invoice bill receipt
price cost pricing quote rate fee
discount coupon promo promotion voucher deal
product item merchandise goods sku
stock inventory
stock share shares equity ticker quote
crypto cryptocurrency bitcoin coin token ethereum
currency money exchange forex
bank account balance
tax taxes
loan mortgage
salary wage payroll income
spend spending cost costs expense expenses budget
task todo ticket issue item card work_item action
issue bug ticket defect problem
bug error crash exception fault failure
incident outage alert page
sprint iteration milestone cycle
board kanban
project workspace
backlog queue
epic story
priority urgency severity
deadline due due_date
status state progress condition health
pull_request merge_request pr mr
repository repo codebase git
branch branches
commit revision changeset
code source source_code program snippet
developer engineer programmer
library package dependency module
package library npm
documentation docs manual reference guide
page document doc wiki article note
note notes memo jot
file files document
folder directory path
spreadsheet sheet excel worksheet csv
cell range row
row record entry
table dataset
column field attribute
database db sql postgres mysql
schema structure columns
index indexes
query sql select statement
presentation slides slideshow deck powerpoint
slide slides
pdf document
image picture photo photograph graphic
video clip movie film youtube
movie film cinema show
tv television series show episode
music song track audio playlist
song track tune music
artist singer band musician
album record
lyrics song
podcast audio episode
voice speech audio speak
transcribe transcript transcription subtitles captions
speech_to_text transcribe
text_to_speech speak narrate voice
translate translation language
language languages
dictionary definition define meaning word
synonym thesaurus
grammar spelling proofread
news headlines article press
blog article post
book novel reading ebook
paper research publication article study academic scholarly
research study investigate
author writer
journal publication
website site webpage page web url
url link hyperlink address
domain dns website
web internet online
browser chrome webpage
screenshot capture
click press tap
form fill
seo keyword ranking
traffic visitors visits
social twitter tweet instagram facebook
tweet post
followers audience
job jobs career vacancy position employment
resume cv
candidate applicant
interview hiring recruit
hotel accommodation lodging stay room
apartment house home property real_estate rental
rental rent lease
flight airline plane fly airfare
trip travel journey vacation holiday itinerary tour
destination place
train rail railway
car vehicle auto automobile
taxi ride cab
route directions navigation navigate way
map maps location place geographic
distance far
near nearby around close
address location coordinates geocode
coordinates latitude longitude gps
restaurant dining eat food cafe
food meal dish cuisine
recipe recipes cooking cook dish meal
ingredient ingredients
drink cocktail wine beverage
nutrition calories diet
fitness exercise workout training gym
health medical healthcare
doctor physician hospital medical
symptom disease illness diagnosis condition
drug medicine medication
weather forecast temperature climate rain
temperature hot cold
time clock hour
timezone time_zone
date day
sport sports game match team
game games gaming play
score result
quiz trivia question
joke humor funny fun
gift present
fashion clothes clothing outfit wear
beauty cosmetic makeup
pet dog cat animal
plant garden
astrology horoscope zodiac
law legal lawyer court
contract agreement
signature sign
patent trademark
government public
school university college education
student pupil
math mathematics equation calculator
physics science
astronomy space planet star
earthquake disaster
air_quality pollution
energy electricity power
server host machine instance vm computer
instance instances ec2 vm
container docker pod
pod pods container workload kubernetes
cluster kubernetes k8s
kubernetes k8s cluster
bucket s3 storage
storage disk space
cloud aws azure gcp
function lambda serverless
network vpc ip
metric metrics measure kpi
dashboard panel graph
alert alarm monitor
log logs stdout output
secret password credential key token
password credential login
login sign_in authentication auth authenticate
user account profile
profile bio
settings configuration config preferences options
environment env
variable env
flag toggle feature_flag
workflow pipeline automation action ci build
pipeline build ci job
job run workflow
test tests testing qa
release version tag
version revision history
vulnerability security cve exploit
security threat safe
permission access
webhook callback event
message queue topic
form survey questionnaire poll
feedback review rating opinion
review reviews feedback
attachment file
template boilerplate
campaign newsletter marketing
audience subscribers segment
subscriber subscribers list_member
advertisement ad ads advertising
delivery shipping shipment parcel package
package parcel shipment
tracking trace track
qr barcode
color colour palette
icon logo emoji
font typography
design mockup figma layout
component element widget
game chess
random dice
generate random
hash checksum
regex pattern
json data
data dataset information
knowledge wiki encyclopedia fact facts
encyclopedia wikipedia
question ask answer
idea brainstorm ideas
prompt instruction
model ai llm
embedding vector semantic
similarity semantic nearest
graph network
node entity
relation relationship edge
sensor device
smart_home light lights thermostat
light lamp
room area
camera surveillance
print printer
scan ocr
ocr text recognize
crop resize trim scale
compress shrink zip reduce
extract unzip
size large big
latest recent newest current new
history past previous historical log
upcoming next future
today now current
trend trends trending popular top
popular best top
cheap cheapest low affordable budget
fast quick speed performance
slow latency performance
error errors failing failed broken
broken failing down
availability uptime
down outage unavailable
memory ram
cpu processor load
on_call oncall rotation shift
escalate page
department team
leave absence vacation time_off pto
manager boss supervisor
hire recruit onboard
donation charity donate
event concert show ticket
ticket tickets admission
venue place location
party celebration
wedding event
kids child children family
baby infant
name title called
description summary text
quantity amount number count
number count how_many
percentage ratio percent
average mean
filter narrow
group aggregate
limit quota
subscription plan membership recurring
customer_support support helpdesk
support help assistance
transaction payment transfer
wallet account balance
portfolio holdings investment
investment invest stock
dividend earnings
financial finance money
earnings revenue income profit
revenue sales turnover
sales revenue
save write store keep persist
open read view
put insert place upload add store
trash delete bin
throw_away delete discard
get_rid delete remove archive
attach link associate
mute silence quiet downtime
acknowledge ack
structure tree hierarchy outline
install set_up setup configure deploy
set_up create arrange prepare
pause stop halt
draft prepare
copy fork clone
merge land
swap replace substitute override exchange
change replace switch edit
switch checkout toggle change
switch_on turn_on start
switch_off turn_off stop
shut_down stop
spin_up start run launch
kick_off start run trigger dispatch
call_off cancel delete
put_off reschedule postpone
look_up search find get
find_out search get analyze
fill_in fill
sign_up register subscribe enroll
log_in login
check status health monitor
attend participate join
reason cause why diagnose troubleshoot
diagnose analyze inspect examine debug
explain describe interpret clarify
how_much price cost amount balance
how_many count number
enlarge upscale bigger increase zoom
increase raise boost
decrease lower reduce shrink
improve enhance optimize refine rephrase rewrite
rewrite rephrase paraphrase reword
speed_up optimize index
break_down split subtask
depend dependency block blocker
blocked dependency
done completed resolved closed
unresolved open pending
pending waiting
finished completed done
duplicate duplicates merge dedupe
expire expiration ttl expires
automatic automatically automation rule filter
temporary expires presigned
preset template
reusable template
column columns field schema
properties attributes fields
key field
contents content text body
recent latest history
changed modified updated
changes diff commits
edited modified changed
author owner creator
job_title profile role
permission role grant
moderator role admin
member members user
participant participants attendees
people users members
firewall security_group
shell exec terminal command
terminal shell command console
command exec run
output logs stdout
maintenance downtime drain
shift on_call schedule
rerun retry restart
retry rerun again
replica replicas copies
crash crashloop error
exception error issue
version release
newsletter email campaign
announcement message notification
mailing_list contacts subscribers
signature sign
spam junk
emoji reaction
thumbs_up reaction like
like reaction upvote
tab sheet
tabs sheets
workbook spreadsheet
headline news
catalog list index registry
inventory assets
guests people adults
apartment listing home
seat ticket booking
plane flight
ticket flight fare
song playback
playback play player
playlist list
clip video
caption transcript
viewer audience
stock_market finance
profit income earnings
quote price
value price worth
fact knowledge
note observation remark
remember observation memory
relationship relation
mockup design
icons images assets
colour color
brightness dim light
routine automation scene
scene automation
dish recipe
ingredients recipe
lose_weight diet
`;

/** The classes as lists of words, each as it is written. Two words that `_` joins have a blank. */
export const synonymClasses: readonly (readonly string[])[] = CLASSES.trim()
  .split("\n")
  .map((line) => line.split(" ").map((word) => word.replaceAll("_", " ")));
