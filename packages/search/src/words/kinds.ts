/**
 * Words that stand for one of a kind, and the words that tools use for the kind: `euros` finds `currency`, and not the
 * other way round. The kinds are of whole fields of work and life, as the classes of synonyms are; well-known names
 * stand for their kind. `_` joins two words.
 */
const KINDS = `
english german french spanish italian portuguese dutch russian chinese mandarin japanese korean arabic hindi turkish polish swedish greek latin hebrew > language translate translation
dollar dollars euro euros usd eur gbp yen jpy pound pounds franc francs rupee rupees yuan peso cents > currency exchange money price
monday tuesday wednesday thursday friday saturday sunday weekend weekday > date day calendar schedule event
january february march april june july august september october november december > date month
today tomorrow tonight morning afternoon evening noon > date day time calendar
yesterday ago lately recently > history recent past date
hour hours minute minutes seconds oclock am pm midnight > time duration
week weeks month months quarter year years daily weekly monthly hourly nightly > period date schedule
berlin london paris rome madrid vienna amsterdam tokyo beijing shanghai delhi mumbai sydney york chicago boston seattle texas california florida denver hamburg lisbon dublin singapore toronto > city location place
germany france spain italy england britain usa america china japan india australia canada mexico brazil europe africa asia > country location place
city cities town country countries state region street avenue zip neighborhood district > location address place area
street avenue postcode zip zipcode > address
airport airports > flight airport location
station stations bus subway metro tram ferry > transport transit train route
wife husband mother father mom dad son daughter brother sister friend friends neighbor colleague coworker boss manager landlord teacher doctor lawyer driver > person contact people
team colleagues coworkers everybody folks crew department > group channel members users
somebody someone anybody > person user
kitchen bedroom bathroom garage hallway living_room basement > room area home
house home indoor > home room
lamp lamps bulb bulbs chandelier > light lights
heating heater radiator warmer cooler warm cold hot chilly heat > temperature climate thermostat weather
door doors window windows gate > lock sensor door
rain rainy raining snow snowing storm stormy hurricane tornado sunny sunshine cloudy umbrella wind windy hail fog thunder humidity > weather forecast
storm hurricane tornado flood flooding wildfire warning warnings > alert alerts severe weather
smog pollen polluted pollution > air quality
bread cheese egg eggs chicken beef pork fish rice pasta spinach tomato tomatoes onion potato potatoes fruit vegetable vegetables butter milk sugar flour > ingredient ingredients food recipe
pizza sushi burger lasagna soup salad cake curry tacos steak sandwich > dish food recipe restaurant
breakfast lunch dinner brunch supper snack > meal food
vegan vegetarian keto gluten calorie calories protein carbs vitamins > nutrition diet food nutrients
eat eating hungry cook cooking bake baking kitchen fridge pantry > recipe recipes food meal dish
coffee tea beer wine whisky juice > drink beverage
weight slim lose_weight > diet fitness calories health
gym yoga running jogging pushups muscle marathon cardio > workout exercise fitness
headache fever cough pain flu cold allergy infection cancer diabetes > symptom disease health medical
sick ill injured > health medical leave
football soccer basketball baseball tennis golf hockey cricket nba nfl olympics > sports sport match score game
jazz rock pop hiphop rap classical techno blues metal punk folk > music track song playlist genre
guitar piano violin drums concert > music
netflix hbo hulu cinema actor actress director film films movies > movie tv show
novel novels fiction author library isbn > book books
poem story essay lyrics speech letter > text write document
shirt shoes dress jacket sneakers jeans > clothing fashion product
phone smartphone iphone android laptop tablet headphones tv > device product
cat cats dog dogs horse bird puppy kitten > animal pet image
apple tesla microsoft amazon nvidia google netflix meta > company stock ticker
profit profitable loss earnings quarter margin turnover > revenue income financial statement
worth value valued cost costs > price
cheap cheapest cheaper affordable expensive bargain > price fare cost lowest
rich invest investing investor portfolio > stock investment finance
rent mortgage landlord tenant > property real_estate
flight flights plane airplane airline airlines seat seats fly flying luggage boarding > flight flights airline
hotel hotels hostel bnb motel lodging accommodation apartment flat room stay > hotel listing accommodation booking
trip vacation holiday holidays travel travelling journey tourist sightseeing > travel trip destination
car drive driving walk walking bike cycling highway > directions route travel
far distance miles km kilometers > distance
north south latitude longitude > coordinates
sea mountain altitude height high > elevation
near nearby closest around > nearby places location
open opening_hours closed > hours place details
tall old born died famous history historic biography who > person article encyclopedia
pdf docx doc txt markdown > document file text
csv tsv xlsx xls > spreadsheet data file
jpg jpeg png gif svg webp > image picture file
mp3 wav > audio file
mp4 mov avi > video file
zip tar gz rar > archive file compress
json xml yaml toml > data file format
python javascript typescript java rust golang ruby php c++ bash shell > code script program
function class method variable algorithm > code
regex sql query > query
mysql mariadb postgresql postgres sqlite oracle mongo mongodb redis > database
table tables row rows column columns join schema > database table
npm pip maven cargo dependency dependencies > package library
crash crashes crashed crashing exception exceptions stacktrace traceback bug bugs fails failing failed broken > error issue failure
down outage unreachable offline incident > incident alert status
slow latency timeout timeouts performance bottleneck > performance query trace
cpu ram disk utilization throughput > metric metrics memory
server servers vm vms machine machines host hosts instance > instance server host
firewall port ports vpn subnet ip > network security
cluster node nodes pod pods deployment namespace kubernetes k8s helm kubectl > kubernetes cluster resource
container containers image dockerfile docker > docker container
bucket buckets object objects blob s3 > storage bucket object
lambda serverless ec2 aws azure gcp cloud > aws cloud
branch branches commit commits merge rebase uncommitted staged unstaged checkout stash > git repository branch
pr prs mr > pull_request merge_request
repo repos codebase > repository
ci cd pipeline build builds workflow > pipeline job run workflow
readme changelog license > file repository document
todo todos task tasks work chore chores > task issue card
due deadline overdue > due_date task
bug bugs story epic backlog sprint > issue ticket
board column kanban > board card list
wiki runbook handbook guide policy onboarding documentation > page document article wiki
paragraph heading section sentence > text block content
mail mails email emails inbox spam newsletter > email mail message
sms text_message whatsapp > message phone sms
call phoned phone dial ring > call phone
webinar conference video_call meeting standup > meeting event
attended attend attendees invite invited invitation > participants attendees meeting event
appointment appointments dentist lunch kickoff party wedding birthday > event calendar meeting
busy free available availability > free_busy availability calendar
remind reminder forget > reminder task
friend girlfriend boyfriend family > person
lead leads prospect prospects client clients customer customers account accounts > crm contact customer company
deal deals opportunity opportunities pipeline negotiation > deal opportunity sales
order orders purchase bought cart checkout > order orders product
shipped shipping delivery delivered parcel package > order shipping address
stock stocked inventory warehouse > inventory quantity product
refund refunds chargeback chargebacks money_back > refund dispute payment
bill bills billed billing invoice invoices > invoice payment
card visa mastercard paypal > payment
promo voucher coupon discount sale > discount coupon code
subscriber subscribers audience followers > contact list
survey poll vote > form
opened clicked bounced unsubscribe > stats statistics
draw paint drawing painting sketch cartoon portrait logo wallpaper > image generate picture
photo photos picture selfie background sharpen blurry > image photo
colors colours palette spacing font fonts > variables styles design
mockup wireframe layout prototype > design figma
aloud narrate pronounce voice > speech voice
recording recorded dictation > audio recording transcript
song songs tune album listen listening sing > music track
clip clips footage vlog tutorial > video
watch views viewers channel uploads > video channel
paper papers preprint research scientific study thesis > paper papers article
diffusion neural transformer physics biology chemistry > research paper
planet planets star galaxy moon mars nasa > space astronomy
joke jokes riddle > joke entertainment
quote quotes inspiration > quote
horoscope leo virgo scorpio tarot > astrology horoscope
dress outfit wear > fashion clothing
job jobs career salary resume vacancy hire > job employment
student exam homework teacher class college > education course
court attorney lawsuit contract > legal law
add subtract multiply divide square average deviation percent percentage sum > calculate math
solve equation integral derivative > math
python script code > script
password passwords login token > secret credential
flag toggle > feature
javascript console > console error
button link field form website site webpage > page web element
internet online google headlines > web internet
url link website page > web page
domain whois > domain
bible quran scripture verse prayer church > religion bible
meditation mindfulness sleep stress anxiety depression therapy therapist > mental health wellness
personality mbti introvert extrovert > personality test
dream dreams nightmare > dream
pregnancy pregnant > health baby
name names nickname > name generator
meme memes gif sticker emoji > meme image fun
riddle puzzle sudoku crossword wordle > puzzle game
chess checkers poker > game
quiz trivia flashcard flashcards > quiz question learn
anime manga comic comics > anime comics series
museum gallery exhibition painting sculpture > art museum
podcast radio > podcast audio station
nft wallet defi gas ether token onchain > blockchain crypto
dividend etf fund option options futures bond bonds > stock market investment
filing filings sec 10-k annual > company report financial
tax irs deduction refund > tax
mortgage loan interest credit > finance loan
budgeting saving savings spending > budget money expense
insurance > insurance policy
house houses apartments condo villa listing listings realtor > property real_estate listing
buy shop shopping > product shopping price
compare cheapest best > compare price review
review reviews rating ratings stars > review rating
gift gifts present birthday > gift product
grocery groceries supermarket > grocery food product
makeup skincare lipstick perfume hair > beauty cosmetics
sofa chair furniture kitchen decor interior > furniture home design
repair plumber electrician cleaner > home service
car cars suv sedan vehicle mileage > car vehicle
ev charger charging parking gas_station fuel > station location car
rental rent hire > rental
tour tours attraction attractions activities sightseeing beach hiking > travel tour activity
visa passport embassy > travel visa
cruise train coach bus > travel transport ticket
concert concerts festival theater theatre show shows > event ticket
league team player players standings fixture tournament f1 race > sports score match
bet odds betting > sports odds
nutrient nutrients vitamin macros > nutrition food
cocktail cocktails wine beer bar > drink recipe
medication pill dosage prescription vaccine > drug medicine health
doctor dentist clinic hospital > doctor health appointment
workout workouts squat training coach > fitness exercise workout
gene protein molecule dna cell > biology research
chemical compound reaction element > chemistry
theorem proof geometry probability statistics > math
translate pronounce vocabulary > language translation dictionary
grammar spelling typo proofread > grammar text
essay article blog caption slogan tweet > write text content
resume cv cover_letter > resume job
interview salary hiring recruiter candidate > job candidate recruit
course courses class lecture tutorial learn > course education learn
exam homework assignment > education question
law attorney statute legislation court regulation compliance > law legal
patent patents trademark copyright invention > patent
congress senate bill election vote politician > government politics
census population demographic gdp economy > statistics data
earthquake earthquakes volcano tsunami > earthquake disaster
satellite rocket orbit launch asteroid > space nasa
flower flowers tree trees crop farm > plant garden
dog puppy kitten breed vet > pet animal
seo backlink backlinks keyword keywords ranking > seo keyword website
ad ads advertisement campaign campaigns > advertising campaign
traffic visitors bounce > website analytics
domain hosting ssl certificate dns > domain website
uptime ping latency > monitor status website
qr barcode > qr code
diagram flowchart mindmap mermaid uml > diagram chart
chart graph plot histogram dashboard visualize > chart visualization
slide slides deck pitch > presentation
pdf pdfs contract manual brochure > pdf document
spreadsheet excel > spreadsheet table
screenshot > image page
transcript subtitles captions > transcript video
voiceover narration speech > speech audio
logo icon banner poster > image design
website landing_page webapp > website build
compile debug refactor unit_test > code
algorithm leetcode > code problem
endpoint endpoints rest graphql swagger openapi > api
prompt prompts > prompt
habit habits goal goals > task habit
journal diary > note journal
contact contacts phonebook > contact person
tracking shipment courier > tracking package shipping
`;

/** What each word is of, in the words that tools use. Two words that `_` joins have a blank. */
export const kinds: readonly { readonly words: readonly string[]; readonly kind: readonly string[] }[] = KINDS.trim()
  .split("\n")
  .map((line) => {
    const [words = [], kind = []] = line
      .split(" > ")
      .map((part) => part.split(" ").map((word) => word.replaceAll("_", " ")));
    return { words, kind };
  });
