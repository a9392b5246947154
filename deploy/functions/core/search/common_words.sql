-- Deploy pymem:functions/core/search/common_words to pg

begin;

set local role memory_owner;

create or replace function memory.common_words()
  returns text
  language sql
  immutable
  parallel safe
  return '
    aaron abandon abbas abbey abbot abbott abdomen abdul abigail ability aboard about above
    abraham abroad abrupt absence absent absolute absorb absurd abuse abyss academic academy
    accent accept access accident acclaim accompanied accord according account accused ached
    acheron aches achieve acids acoustic acquire acquisition acres acronym across acted action
    active activist activity actor actress actual actually acupuncture acute adams adapt added
    addiction adding addison addition additional additionally address adelaide adele adjacent
    adjunct adjust adler administration admire admit adobe adolf adolfo adopt adorned adrian adult
    advance advantage advent adventure adverse advertising advice advise advisor advisory aerial
    affair affect affiliated afford afghan afghanistan afraid africa african after afternoon
    afterwards again against agency agenda agent aging agnes agony agree agreement agriculture
    ahead ahmad ahmed aidan aided aiden aimed airbnb airbus aircraft aired airlift airline airplay
    airport airways aisle akbar akira alabama alain alarm alaska albania albany albeit albert
    alberta alberto albion album alcohol alert alexa alexander alexandre alexei alexia alexis
    alfonso alfred alfredo algae algebra algeria alias alice alicia alien aligned alike alison
    alive allah allan alleged allen allergic allergy alley alliance allie allison allow allowed
    alloy almonds almost alone along alongside alonso aloud alpha alpine already alright altar
    alter alternate although aluminium aluminum alumni alumnus alvarez alvin always amanda amassed
    amateur amazed amazon ambassador amber ambient ambrose ambush amelia amended america american
    amherst amidst amino amnesty among amongst amount amour ample amsterdam amtrak amused anaheim
    analog analysis analyst analyze anand anatomy anchor ancient anders anderson andersson andes
    andhra andre andrea andrei andrew android angel angela angeles angelo anger angie angle anglo
    angola angrily angry anguish angular angus anika anime anita ankara ankle annals annex annie
    anniversary announced annoyed annual another ansible answer antenna anthem anthony antibiotics
    antioch antique antoine anton antonio antony antwerp anxiety anxious anybody anymore anyone
    anything anytime anyway anywhere apache apart apollo apology apostle apparent appeal appear
    appearance appeared appetite apple appliance application apply appoint appointed appointment
    approach appropriate approve approximately april apron aquarium aquatic arabia arabian arabs
    aragon arbor arcade archaeological archaic archbishop arched archeological archer archery
    archie architect architecture archive arctic areas arena argentina argue argument ariel arise
    arizona arkansas armand armed armenia armenian armies armor armour arnold arose around aroused
    arrange array arrest arrive arrived arrow arsenal artemis artery arthur article artillery
    artist artists arturo artwork ascent ashamed asher ashes ashley ashore ashton asian aside
    asked asking asleep aspect aspen asphalt aspirin assam assault assembly assert assess asset
    assigned assist assistant associate associated association assume assure asthma aston astros
    asylum atari athena athens athlete atkins atlanta atlantic atlas atmosphere atoll atoms
    attached attack attain attempt attend attended attention attic attire attitude attorney
    attract attributed aubrey auburn auction audible audience audio audit auditor audrey august
    augusta aunts aurora austin australia australian austria austrian austro author autism
    automatic autumn available avalon avant avatar avenue average avery aviation avocado avoid
    awaited awake award awarded awards aware awesome awful awhile awkward awoke babies babylon
    babysitter bachelor backend background backlog backpack backs backup backyard bacon baden
    badge badly bafta bagel baggage baghdad bahadur bahamas bahrain bailey baird baked baker
    bakery baking balance balcony baldwin balkan ballad ballard ballet balloon ballot balls baltic
    baltimore bamboo banana bandage bandits bands banging bangkok bangladesh bangor banjo banker
    banks banned banner banquet baptism baptist barack barbara barbecue barber barcelona barely
    bargain barge barked barker barley barlow barnard barnes barnet barnett barney baron baronet
    barony baroque barrage barred barrel barren barrett barrier barron barrow barry barton basal
    baseball based basel baseman basement bases basic basil basin basis basket basketball basque
    bassist batch bates bathroom baths batman baton batsman battalion batted batteries battery
    battle battles bauer bavaria baxter bayern beach beacon beads beams beans beard bearer bears
    beast beaten beatles beats beautiful beauty beaux beaver became because becca becker beckett
    becky become becomes becoming bedding bedford bedroom bedside bedtime beech beers beetle beets
    before began begged begin beginning begun behalf behave behavior behind beijing being beings
    beirut belarus belfast belgian belgium belief believe believed believes belize bella belle
    belly belmont belong beloved below belts bench bending beneath benefit bengal bengali benin
    benjamin bennett benny benoit benson bentley benton bergen berger berlin bermuda bernard
    bernhard bernie berry berth bertie beside betaal bethany bethel betray betsy better betting
    betty between beverly beyonce beyond bhutan bianca bible bicycle bidding bigger biggest bihar
    bikes bikini billboard billed billion bills billy binary binds biology birch birds birmingham
    birth birthday bishop bison bistro bites bitten bitter bizarre black blade blaine blair blake
    blame blanc blanche blanco bland blank blanket blast blaze bleak bleed blend blender bless
    blind blinds blink bliss blitz block blond blood bloody bloom blossom blouse blown blows blues
    bluff blunt blurred blurted blush board boasts boats bobby bodies bodily boeing bogota bohemia
    boiled boiler bolivar bolivia bologna bolton bolts bombay bomber bombs bonds bones bonnie
    bonus boogie booked booker booklet books bookshelf boone boost booth boots border bored boris
    borne borneo borough borrow bosnia bosnian boston botany bother bottle bottom bought boulder
    bounce bound boundary bounty bouquet bourbon bourne bowed bowen bowie bowler bowls bowman
    boxer boxes boycott boyfriend boyle brace bracelet braces bracket bradley brady brain brake
    branch brand brandon brandt brandy brasil brass braun brave bravery bravo brazil brazilian
    breach bread breadth break breakfast breakup breast breath breed breeze bremen brenda brendan
    brennan brent breton brett brewer brewery brewing brian brick bride bridge bridges bridget
    brief briefly brien brigade briggs bright bring brink brisbane bristol britain british broad
    broadcast broader broadway broccoli brock brody broke broken broker broncos bronx bronze brook
    brooklyn brother brought brown brows browser bruce bruins bruises brunch brunei bruno brush
    brutal bryan bryant bryce bubba bubble bucket buckets buckley bucks buddha buddy budget buenos
    buffalo buffer buffet buffy build builder building buildings built bulgaria bulgarian bullet
    bulls bully bumper bumps bunch bundle bunker bunny burden bureau burger burgess burial buried
    burke burma burmese burnett burns burnt burrows burst burton busch buses bushes busiest
    business businesses businessman buster butch butcher butler butter button buyer buying buzzed
    bypass byrne byron cabaret cabbage cabin cabinet cable cache caching cactus cadet caesar
    cafeteria caine cairns cairo calcium calder caleb calendar calgary caliber california called
    caller callie calls callum calmly calories calvin cambridge camden camel cameo camera cameron
    cameroon camille campaign campbell camping campo camps campus canada canadian canal canary
    cancel cancer candidate candle candles candy cannes cannon cannot canoe canon canopy canton
    canvas canyon capable capacity capita capital capitol capped capsule captain captive capture
    caracas caravan carbon cardiac cardiff cardinal cards cared career carer caress carey cargo
    caribbean carla carlo carlson carlton carly carmel carmen carmine carol carolina carolyn
    carpet carried carrier carroll carrots carry carson cartel carter carton cartoon carved carver
    cascade cases casey cashier casino cassidy cassie caste castile castle castles castro casual
    catalan catalog catch catcher category cathedral catherine catholic cathy cattle caucus caught
    causal cause caused caution cavalry cavern caves cavity cease cecil cecilia cedar ceded
    ceiling celebrated celery celeste celia cellar cello cells celtic cement cemetery census
    center centos central centre centres centro cents centuries century ceramic cereal ceremony
    certain certified cesar ceylon chain chair chairman chalk challenge chamber champion
    championship championships chance chancel chancellor chances chandra chanel chang change
    changed channel chant chaos chaotic chapel chapman chapter character characteristics
    characters charge charger charity charles charley charlie charlotte charm chart charter chase
    chassis chateau chatham chavez cheap cheaper cheat check checkup cheek cheer cheese chelsea
    chemical chemist chemistry cheng chennai cheque cherries cherry cheryl chess chest chester
    chewed chiang chicago chick chicken chico chief chiefly child childcare childhood children
    chile chilean chili chill chimney china chine chinese ching chips chiropractor chloe chocolate
    choice choir choke cholesterol choose choral chord chores chorus chose chosen chris christ
    christi christian christina christmas christopher chrome chronic chuck chuckle chung chunk
    church cigar cincinnati cindy cinema cinnamon circa circle circuit circumstances circus
    citadel cited cities citizen citrus ciudad civic civil civilian clade claim clair clamped
    clans clapped clara clare clarinet clarity clark clary clash clasped class classic
    classification classified claude claudia claudio claus claws clayton clean cleaner clear
    clement clergy clerk cleveland clever click client cliff clifton climate climax climb climbing
    clinic clint clinton clips clive cloak clock clone close closed closer closest closet closure
    cloth clothes cloud cloudy clown clubs clues clung cluster clusters clutch clyde coach
    coalition coarse coast coastal coaster coats cobra cocaine cocked cockpit coconut codes codex
    coffee coffin cohen coins colby colder coleman colin collaboration collapsed collar colleague
    collect collection college colleges collier collin cologne colombia colombo colon colonel
    colony color colorado colour colton colts columbia column combat combine comedic comedy comes
    comet comfort comic coming command comment commerce commercial commission commissioned commit
    committee common commonwealth commune communication communist communities community commute
    compact companies companion company compare comparison compass compete competition competitive
    compilation compiler complete completed completely completion complex comply component compose
    composition compound comprehensive compton computer computers comte comune conan conceal
    concentration concept concern concert concluded conclusion concord concrete condition condo
    condom conduct conductor conference confess confidence confirm conflict confused congo
    congregation congress congressional connect connecticut connell conner connie connor conor
    conquer conrad consecutive consent conservative consider considerable considered consist
    console consort constant constituency constitution constructed construction consul consume
    contact contain container containers contemporary content contest context continental continue
    continued contract contrast contributed control controversy convent conversion convert convex
    convey convict convinced convoy conway cooke cookie cookies cooking cooled cooler cooper
    copies copper coral cordoba corey cornell corner cornish corona corporate corps corpse corpus
    correct corridor corrupt cortes cortex cosmic cosmos costa costs costume cottage cotton couch
    cough could couldn couldnt council counsel count counter counties countries country county
    coupe couple couples coupon courage courier course courses court cousin cover coverage covered
    covert coward cowboy coyote crack cradle craft craig crane crash crater craved craven crawl
    crazy cream creamy create created creation creative creator creature credit creed creek creep
    creepy creole crepe crept crest crete crews cricket cried crime crimea crimean criminal
    crimson crisis crisp cristina critic croatia crochet croissant croix crook crops crore crosby
    cross crouch crowd crowley crown crows croydon crucial crude cruel cruelty cruise cruiser
    crusade crush crust crypt crystal cuban cubic cuisine cullen cultural culture cupboard cupped
    curator cured curious curls curly curran current currently currie curry curse curtain curtains
    curtis curtiss curve cushion custody custom cutter cutting cyber cycle cycling cyclist cyclone
    cynthia cypress cypriot cyprus cyril cyrus czech daddy daemon dagger daily dairy daisy dakota
    dallas dalton damage damian damien dammit damned damon dance danced dancer danger daniel
    danish danny dante danube daphne darcy dared darius darker darkness darling darren darts
    darwin dashboard dashed database databases dates daughter davey david davis dawson daycare
    daytime dayton daytona dazed deacon deadline deadly dealer deals dealt death debate debbie
    deborah debris debts debut decade decay decca december decent decide decided decision
    decisions decker decks declan declare decline decorated decree dedicated deeds deemed deeper
    deepest deeply default defeat defeated defect defence defend defense deficit define definitely
    defunct degree degrees deity delaney delay deleted delhi delight deliver delivery della delta
    deluxe demand demise democracy democrat demolished demon demonstrated demos denial denier
    denis denise denmark denny denote dense density dental dentist denver depart department
    departure depend depict deploy deployment deposed deposit depot depression depth deputy derby
    derek derive dermatologist derrick derry descend descent describe described description desert
    deserve design designed desire desktop desmond despair desperate despite dessert destination
    destiny destroy destruction detail detect detergent determine detroit develop developed
    development device devil devised devon devoted dewey dexter dhaka dharma diabetes diagram
    dialect dialed diameter diamond diana diane diapers diaries diary dickens dickson diego diesel
    differ different difficult difficulty digest digging digit dignity dilemma dillon dimitri
    dinamo diner dining dinner diocese dioxide diploma dipped direct directed direction director
    directory dirty disappeared disaster disco discover discovery discs discus discuss disease
    disgust dishes dishwasher dislike dismay dismiss disney display dispute distance distant
    distinct distinguished distributed district ditch diver diverse divide divine diving division
    divisions divorce divorcee dixie dixon dizzy dmitry docker docks doctor document documentary
    dodge dodgers doesn doesnt doing dollar dolls dolly dolores dolphin domain domed domestic
    domingo dominic donald donate donkey donna donne donnell donor donovan doomed doorbell doors
    doorway dorian doris dormant dorothy dorsal dorset doses dotted double doubles doubt douglas
    douglass dover dowager download downs downtown doyle dozen dracula draft dragged dragon drain
    drake drama dramatic drank draped drawer drawn draws dread dream dresden dress dresser dried
    drift drill drink drive driven driver drone dropped drops drought drove drown drugs drummer
    drums drunk drunken dryer dryly dubai dubbed dublin duchess duchy ducks dudley duffy dukes
    dumped duncan dundee dunedin dunes dungeon durham during dusty dutch duties dwarf dwight
    dyeing dying dylan dynamic dynamo dynasty eager eagle earlier earliest early earned earnest
    earrings earth eased easier easily easter eastern easton eaten eating eaton echoed eclipse
    ecole ecology economic economics economy ecstasy ecuador eddie edgar edges edible edinburgh
    edison edited edith edition editor edmond edmund edouard eduard eduardo educate education
    edward edwin eerie effect effort egypt egyptian eight eighteen eighth eighty eileen either
    elaine elastic elbow elder eldest eleanor elect elected election elector electric electrician
    electro electronic elegant element elementary elena elevator eleven eliane elias eligible
    elijah eliminated eliot elisa elise elite eliza elizabeth ellen elliot elliott ellis ellison
    elmer elsewhere elsie elton elves elvis email emanuel embassy emblem embrace emerald emerge
    emergency emerson emile emilia emilio emily eminent emmanuel emotion emperor empire employ
    employees empress empty enable enacted encoded encore encouraged ended endemic ending endless
    endowed endpoint endpoints endure enemy energy enforce engage engine engineering engines
    england english enhance enjoy enough enraged enrico enrique ensemble ensign ensued ensure
    enter entered enterprise entertainment entire entirely entitled entity entrance entree entry
    environment environmental envoy enzyme episode episodes epithet equal equipped equity
    equivalent erect erica erich ernest ernesto ernie ernst erosion errands error erupted erwin
    escape escort espana especially espresso essay essence essential essex establish established
    estadio estate esteem esther estimated estonia estuary etched eternal ethan ethel ethics
    ethnic etienne eugene eureka europa europe european euros evans evelyn evening evenly event
    events eventually everett everton every everyone everything everywhere evidence evident
    evolution evolve exact examine example examples exams exceed excellent except excerpt excess
    exchange excited exclusive excuse execute executive exempt exercise exeter exhaled exhaust
    exhibit exile exist exits exodus exotic expand expansion expect expedition expense experience
    experienced experiment experimental expert expired explain explanation explode exploit explore
    explosion export expose exposure express extant extend extensive extent external extinct extra
    extract extreme eyebrow eyeing eyelids faber fabian fabric facade faced facial facility
    faction facto factor factory facts faculty faded fails failure faint fairfax fairs fairy faith
    falcon fallen fallon falls false famed familiar families family famine famous fancy fangs
    fanny fantasy farmer farms farrell farther fascist fashion faster fastest fatal father fatigue
    fatty faucet fault fauna favor favorite favour favourite fears feast feather feature featured
    features february federal federation feeder feeds feeling feels felipe felix fellow female
    females fence fences fender feral fergus ferrari ferry fertile festival festivals fetch feudal
    fever fewer fiance fiancee fiber fibre fiction fiddle field fierce fiery fifteen fifth fifty
    fight fighter figure figures filed fills filly filmed films filter filthy final finally
    finance financial finch finds fined finest finger fingers finish finished finite finland
    finnish fiona fired fireplace firewall firms first fiscal fischer fisher fishes fists fitness
    fitted fitzroy fixed fixture flags flair flame flank flare flash flats flavor flaws fleeing
    fleet fleming flemish flesh flick flicker flies flight flint flipped float flock flood floor
    flora floral florence flores florida flour flower flown flows floyd fluent fluid flung flush
    flute flyers flynn focal focus folder folds foley foliage folks follow followed following
    foods foolish fools footage football footballer footwear forbes force forced forces forcing
    forearm forehead foreign foreman forest forever forge forget forgive forgot forgotten forks
    formal format formed former forms formula forrest forster forth fortress forts fortune forty
    forum forward fossil foster fought found foundation founded founder foundry fourteen fourth
    fowler foyer fragile frame framework france frances franchise francis francisco franco frank
    frankie franklin frantic franz fraser fraud freak freddy frederic frederick freed freedom
    freeing freelancer freely freeman freeway freeze freezer freight french frenzy frequency
    frequent fresh fresno freud freyja friday fridge fried friend friends friendship frieze
    frigate fringe fritz frogs front frontal frontend frost frown froze frozen fruit fuels fulfill
    fulham fuller fully fulton fumble function funds funeral fungi fungus funny furious furnace
    furniture further furthermore fuscous fused fusion futsal future futures fuzzy gable gabriel
    gaelic gains gaius galaxy galen galerie galicia galileo gallery gallons galway gamble games
    gaming gamma gandhi gangs gaping garage garbage garcia garde garden gardening gardner gareth
    garion garland garlic garment garner garrett garry garth gases gasoline gasped gaston gates
    gateway gather gauge gavin gazed gazette gdansk gearbox gears geelong gemini gemma gender
    genera general generally generated generic genes genesis genetic geneva genius genoa genome
    genre gently gentry genuine genus geoff geology georg george georgia georgie gerald gerard
    gerhard germain german germany gerry gesture getting ghana ghetto ghost giant gibbons gibbs
    gibson gideon gifts giggle gilbert giles gilles gillian ginger giorgio girlfriend girls github
    gitlab given gives giving glacial glacier gladys glamour glance glare glasgow glass glasses
    glazed glenn glide glider glimpse global globe gloria glory glossy glove glover gloves glowed
    glucose gluten gmina gnome goals goats goddess godfather godfrey godmother going golden
    goldman golfer gomez gonna goodbye goodman goods goodwin google goose goran gordon gorge
    gospel gossip gothic gotta gotten gould govern government governor grabs grace gracie grade
    gradual graduate grady graeme graham grain grammar grammy grams granada grand grandchild
    grandfather grandma grandmother grandpa grandparents grandson grange granite granny grant
    grape graph graphic grasp grass grassy grave gravel gravity grayson grazing grease great
    greater greatest greco greece greed greedy greek green greet gregg gregor gregory grenade
    greta grief griffin grill grins gripped gritted groan groceries grocery groom groove gross
    ground group groups grove growl grown grows growth grunt guard guardian guess guest guests
    guiana guide guido guild guilt guilty guinea guise guitar guitarist gujarat gunfire gunner
    gunshot gunther gupta gustav guthrie guyana gymnastics gypsy habit habitat hadley hague haifa
    hailed hailey haircut hairdresser hairs hairy haiti haitian haley halfway halifax halls
    hallway halted hamas hamburg hamilton hamlet hammer hammond hampshire hampson hampton hamster
    hancock handbag handed handel handle handler hands handy handyman hangar hangover hangs hangul
    hanna hannah hannover hanover hansen hanson happen happened happier happily happy harald
    harbor harbour harder hardest hardly hardy harlem harley harmful harmony harness harold harper
    harriet harrison harry harsh hartley harvard harvest harvey hasan hassan hastily hatch hated
    hatred hauled haunted haute havana haven havent having havoc hawaii hawkins hawks hayden haydn
    hayes haynes hayward hazard hazel headache header headphones headquarters heads healed healer
    health healthy heard hears heart heater heath heather heats heaved heaven heavier heavily
    heavy hebrew hectare hector hedge heels heidi height heinz heiress heirs helen helena
    helicopter hello helmet helped helps hence hendrix henley henri henrik henry hepburn herald
    herbert herbs heritage herman hermann heroes heroic heroin herpes herring herself hesse hewitt
    hiatus hicks hidden hideous hides higgins higher highest highly highway hiking hilary hilda
    hillary hills hilton himself hindi hindu hindus hints hired hispanic hissed historia historian
    historic historical history hitler hitter hitting hoarse hobart hobbies hobby hockey hodges
    hoffman hoffmann hogan holden holder holding holds holes holiday holland hollow holly
    hollywood holmes homage homer homes homework homme honda honest honesty honey honor honorary
    honour hooded hoodie hooker hooks hoover hoped hopkins hopped hopper horace horde horizon
    hormone horns horror horse horton hospital hostage hostel hostile hosts hotel hotfix hotter
    hottest hound hourly hours house household houses housewarming houston hovered howard howell
    however howling https huang hubbard hubert huddled hudson hugged hughes human humble humid
    humming humor humour hunched hundred hungarian hungary hunger hungry hunted hunter hurdles
    hurling huron hurricane hurry hurst hurts husband husky hussain hussein hutton hybrid hydro
    hygiene hymns iberian ibrahim ibuprofen iceland icons idaho ideal ideas identify identity
    idiot ignited ignore iguana illegal illinois illness illustrated image imagery imagine
    immediate immediately immense immigrants immune impact imperial implemented imply import
    important impose impossible impress imprint improve impulse inaugural inches incident include
    included includes including income incorporated increase incumbent indeed independence
    independent index india indian indiana indicate indie indigenous individual individuals
    indonesia indoor induce industrial industry infant infantry inferno influence influential
    influx inform information infrastructure ingrid inhabit inhaled inhibit initial initially
    injured injury inland inlet inmates inner inning innocent input inquiry insane insect insert
    inside insides insight insist insomnia inspector inspire install instance instant instead
    institute institution instrument insulin insult insurance intact intake integer integrated
    intel intellectual intelligence intend intense intent inter interest interim interior
    intermediate internal international internationally internet internship interpretation
    interrupted intersection interstate interview intro introduced introduction invade invalid
    invasion inverse invest investigation invite invoice involve involved inward ionic iphone
    ipswich iranian iraqi ireland irene irish ironic ironing irony irvine irving irwin isaac
    isabel isaiah islam island isles ismail isolated israel israeli issue issued issues italia
    italian italics italy items itself itunes ivory jacket jackie jackson jacob jacques jagged
    jaguar jailed jaime jakarta jakob jamaica james jameson jamie jammed jammu janata janeiro
    janet janice january japan japanese jared jarvis jasmine jason jasper javascript javier
    jealous jealousy jeanne jeans jefferson jeffrey jelly jenkins jenks jenna jennifer jenny
    jensen jeremy jericho jerked jerome jerry jersey jerusalem jesse jessica jessie jesuit jesus
    jewel jewelry jewish jiang jimmy joachim joanna joaquin jockey jogging johan johann johanna
    johnny johns johnson joined joins joint joker jokes jolly jonah jonas jonathan jones jordan
    jorge josef joseph joshua josie journal journalist journey joyce jubilee judaism judge judith
    juggling juice jules julia julian julie julien juliet julio julius jumper jumps junction
    jungle junior jupiter jurisdiction justice justify justin kabul kafka kaiser kamal kamen
    kannada kansas kapoor kappa karachi karate karen karma kashmir kathryn kathy katie katrina
    kazan keeper keeps keith kellan keller kelley kelly kelsey kendall kendra kennedy kenneth
    kenny kentucky kenya kenyan kepler kerala kernel kerry ketchup kettle kevin keyboard keynes
    khalid khmer kicks kidding kidney killed killer kills kilometers kilometres kinase kinda
    kindergarten kinds kinetic kingdom kings kiran kirby kissed kitchen kitten kitty klaus klein
    knees knelt knife knight knitting knives knock knots knowledge known knows kolkata koppen
    korea korean kosovo krakow kramer krishna kristen kuala kubernetes kumar kurdish kuwait kylie
    kyoto label labor laboratory labour laced lacey lacks lactose ladder laden ladies lagoon lagos
    laguna lahore laird lakers lakes lakshmi lamar lambda lambdas lambert lamps lance landlady
    landlord landon lands landscape lanes langdon lange langley language languages lanka lankan
    lansing lantern laptop large largely larger largest larry larsen larson larvae lasagna laser
    lashes lasts lately latency later lateral latest latin latino latte latter lattice latvia
    latvian laude laugh laughter launch laundry laura laurel lauren laurent laurie lawrence lawson
    lawsuit lawyer layer laying layla layout leader leadership leading leads leafs league leagues
    leaked leans leaped leapt learn learnt lease leash least leather leave leaves leaving lebanon
    lecture ledge ledger leeds legacy legal legend legged legion legislative legislature lehigh
    leiden leigh leipzig leisure lelia lemon lemonade lending length lengthy lenin lennon lennox
    lenny lenses lentils leonard leone leopard leopold leroy lesbian leslie lesser lesson lester
    lethal letter letting lettuce level lever levin lewis liable liaison liang libby liberal
    liberia liberty library libre libya libyan licence license licensed licked liege lieutenant
    lifetime lifts light lighter lightning ligue liked lillian lilly limbs limit limited lincoln
    linda linden lindsay lindsey lineage linear lined linen liner lines lineup links linter linux
    lionel lions lipstick liquid liquor lisbon lissa listed listen lists literal literary
    literature lithium litre litter little liturgy lived lively liver liverpool livery lives
    living livre livres lizard lizzie lloyd loads loans lobby local locate located location locker
    locks locomotives lodge logan logging logic loire london lonely longer longest longing looked
    looking lookout looks loops loose lopez lords lorenzo loser loses losses lottery lotus louder
    loudly louie louis louisa louise louisiana lounge loved lover lowell lower lowest lowland
    loyal loyalty loyola lublin lucan lucas lucia lucian lucien lucius lucivar luckily lucky
    ludwig luggage luigi lullaby lumber lumpur lunar lunch lungs lurched luther luton luxury luzon
    lydia lying lynch lyons lyric mabel macaroni macau machine mackay macon macro madam maddy
    madhya madison madness madonna madras madrid mafia magazine magazines maggie magic magna
    magnet magnum magnus maiden maine mainstream maintain maintenance mainz maize majesty major
    maker makes makeup making malaria malawi malay malaya malaysia malcolm males malik mallory
    malone malta maltese mammals manage managed management manager manchester mandate mandy
    manfred manga manhattan manila mankind manly manner manny manor mansion manson mantle manual
    manuel manufactured maori maple mapped marathi marble marcel marcello march marco marcus
    margaret margin maria marian mariana marie marilyn marin marina marino mario marion marital
    maritime marius marker market marks markus marley maroon marquis marriage married marry marsh
    marshal marta martha martial martian martin martina marty martyr marvel marvin marxist
    maryland mascot masks mason masonry massachusetts massage masses massey massive master match
    matcha mateo mater material maternity mates mathematics mathew mathias matilda matrix matteo
    matter matthew matthias mattress mature maureen maurice maxim maximum maximus maxine maxwell
    maybe mayer maynard mayor mcbride mccain mccoy mcgee mcgill mckay mckenna mclaren mclean
    mcmahon meadow meals meaning means meant meanwhile measure meatballs mecca mechanic mechanism
    medal media median mediation medical medication medicine medieval medina mediterranean medium
    medley meeting meets megan meghan meier melanie melbourne melissa mellon melodic melody melon
    melted melvin member members membership memoir memory memphis menace mendoza menopause mental
    mention mentor mercer merchant mercury mercy merely merge merger merit merlin mermaid merrill
    merry message messed messiah messy metal meter method metre metric metro metropolitan mexican
    mexico meyer meyrick miami micah michael michel michigan mickey micro microsoft middle midland
    midnight midst midway midwest midwife might mighty migraine migrant miguel mikhail milan
    milano mildly mileage miles military militia milky miller millie million mills milton minas
    minds miner mines minimal minimum minister ministers ministry minnesota minor minsk minus
    minute minutes miracle mirage miranda miriam mirror mirza misery missed missile mission
    mississippi missouri mistake mister misty mitch mitchell mixed mixtape mixture mobile mocking
    model modern modes modest modify modular module mohamed mohan mohawk moist moldova mollusk
    molly moment mommy monaco monarch monastery monday monet money mongo mongol monica monika
    moniker monitor monkey monks monroe monsoon monster montana montane monte month months
    montreal monty monument moody mooney moore moose moral moran moreno morgan morley mormon
    morning morocco morris morrow morse mortal mortar mortgage morton mosaic moscow moses mosque
    mosquito mostly motel mother moths motif motion motive motor motorbike motorcycle motto mound
    mount mountain mouse mousse moustache mouth moved movement mover moves movie movies moving
    mozart muddy muffin muffled mughal muhammad muller multi multiple mumbai mumbled munich
    municipal municipality munro munster mural murder murdoch murmur murphy murray muscle musee
    museo museum mushrooms music musica musical musician muslim mustache mustafa mustang mustard
    muster mutant muted mutiny muttered mutual muzzle myanmar myers myrtle myself mysore mystery
    mystic myths nadia nagar nails nairobi naive named names namibia nancy nanjing nanny naomi
    napier napkin napkins naples narrow nasal nascar nassau nasty natal natalia natalie natasha
    nathan nation national native natives natural nature naughty nausea navajo naval navarre nazis
    nearby neared nearer nearest nearly neatly necessary necklace needed needle needs negative
    neglect negotiations negro neighbor neighborhood neighbour neill neither nelson nemesis nepal
    nephew neptune nerve nervous nests netflix netherlands network neural neurons neutral neutron
    nevada never nevertheless neville newark newborn newer newest newly newman newport newspaper
    newton nginx nguyen niagara niall nicely niche nicholas nichols nickel nickname nicky nicola
    nicole niece nielsen nigel niger nigeria night nikki nikolai ninety ninja ninth nippon nissan
    nixon nobel noble nobody nodded nodding nodes noelle noise noisy nokia nolan nomadic nominal
    nominee nordic norfolk norma normal norman norms norris norse norte north northeast northern
    northwest norton norway norwegian norwich notable notch notebook noted notes nothing notice
    notion notre nouns novak novel novella novelty november nowhere nuclear nucleus nudged nuevo
    number numerous nurse nursery nutrition oakland oasis oatmeal obama object oblast obliged
    oblique obscure observe obtain obvious occasion occasionally occupation occupy occur ocean
    oceania octave october octobre oddly odessa odisha odyssey offence offense offer offered
    office officer offices official officials offset often oilers okinawa oklahoma older oldest
    oldham olive olives olivia olivier olsen olson olympia olympic omaha omega omelette omitted
    ongoing onion onions online onset ontario onward opened openid opening opens opera operate
    operation operations opinion opium opponent opportunity oppose opposite opted optician optics
    optimal option optometrist oracle orange orbit orchard orchestra orchid order ordinary ordre
    oregon organ organic organised organization organized oricon orient origin original originally
    orioles orion orlando orleans ornate orphan orthodox ortiz osaka osborne oscar oswald otago
    other others otherwise ottawa otter ottoman ought ounce outage outcome outdoor outer outfit
    outlaw outlet outline outlook outpost output outrage outside outstanding outward overall
    overlap overs oversaw overseas oversee overtime owens owing owned owner ownership owning
    oxford oxide oxygen oyster pablo paced pacific package packers packet packs padded paddle
    paddy padres pagan pageant pages paige painkiller pains paint painter pairs pajamas pakistan
    palace palais palazzo palermo palmer palms pamela panama pancakes pandora panel panic panther
    pants panzer paolo papal paper papua parade paradox parallel param parcel pardon parent
    parents paris parish parker parking parks parkway parliament parliamentary parlor parma parody
    parole parrot parry parser parsons partial participate particular parties partly partner
    partnership parts party pascal pasha passage passed passenger passes passion passive passport
    password pasta paste pastor pastry pasture patch patel patent paternity paths pathway patient
    patio patrick patriot patrol patron patted pattern patton patty paula pauline paulo pause
    paved pavel paying payload payment payne paypal payroll peabody peace peach peacock peaks
    peanut peanuts pearce pearl pears pearson peasant pedal pediatrician pedro peeked peeled
    peerage peers peggy penal penalty penang pencil pending penguin penicillin peninsula penned
    pennsylvania penny pension people peoples pepper percent percentage perch percussion percy
    perez perfect perform performance performed perfume perhaps period perkins permanent
    permission permit perry persia persian person persona personal personnel perspective perth
    petals peter petit petra petrol petty pewter peyton phantom pharaoh pharmacist pharmacy phase
    phelps philadelphia philip philipp philippine phillip philosophy phoebe phoenix phone photo
    photographs photography phrase phyllis physician physics physiotherapist physiotherapy pianist
    piano piazza picks pickup picnic picture piece pierce pierre piers pietro pigeon piled pilgrim
    pillar pillow pills pilot pinch pineapple pines pinned pinyin pioneer pipeline pipelines piper
    pipes pirate pissed pistol piston pitch pitcher pittsburgh pivotal pixel pizza place placed
    places plague plain plane planet plans plant plaque plasma plaster plastic plata plate plateau
    platform plato platoon playboy played player players playful playing playoff plays plaza
    pleaded please pleasure pledge plenty plots plucked plumber plumbing plunged plural pocket
    podcast podium poems poetic poetry poets point pointer points poised poison poked pokemon
    poker poland polar poles police policies policy polish polite political politician pollen
    polls polly polymer ponce ponds pools poorly popcorn popped poppy popular population
    populations porch porsche portal porter portion portland porto portrait portray ports portugal
    portuguese posed position positive possess possible possibly postal poster postgres postgresql
    posts posture postwar potato potatoes potent potential potion potomac potter pottery pouch
    pound pounder poured poverty powder powell power poznan practice practices pradesh prague
    prairie praise prakash prasad pratt prayed prayer precise predict preface prefect prefecture
    prefer prefix pregnant prelude premier premise premium prepare prescription presence present
    preserved president presidential presley press pressure preston pretend pretty prevent preview
    previous previously price pride priest prima primal primarily primary prime primera prince
    princes princess principal principle print printer prior priory prison privacy private privy
    prize probably probation probe problem procedure proceed process processor produce produced
    producer product production professional professor profile profit program programme progress
    project prominent promise promo promote promotion prone proof proper properties property
    prophet propose propped prose protect protein protest proto proton proud prove proven provide
    provided provides province provinces provincial provost proxy prussia psalms pseudo psychic
    psycho psychologist psychology public publish published pudding pueblo puerto pulled pulls
    pulse pumps punch punish punjab punjabi pupil puppet puppy purchase purdue purely purity
    purple purpose purse pursed pursue pursuit pushed putin putnam putting puzzle puzzles pyramid
    python qaeda qatar quail quaker qualify quality quantum quarry quarter quartet quartz quasi
    quebec queen queensland queer quentin queries query quest question quick quicker quickly quiet
    quilting quincy quinn quintet quite quota quote quran rabbi rabbit racer races rachel racial
    racism racist radar radial radiator radical radio radius rafael ragged raging rahman raiders
    raids railroad rails railway rainbow rains rainy raise raised raisins raked raleigh rally
    ralph ramirez ramon ramos ramsay ramsey ranch rancho randall random randy range ranger ranges
    ranks ransom raoul raphael rapid rapper rarely rashid raspberries rates rather ratio rattled
    raven raymond razor reach reached react reaction reactor reader readily reads ready reagan
    realise realism reality realize really realm reaper reason rebecca rebel rebellion rebuild
    rebuilt recall receipt receive received recent reception recipe recipes recipient recognised
    recognition recognize recommended record recorded records recover recovery recruit rector
    recycling reddish reddy redis reduce reduction reefs reese reeve refactor refer referee
    refined reflect reflex reform refrain refrigerator refuge refugee refund refuse regain regal
    regan regard regardless regency regent reggae reggie regime regimen regiment regina region
    regional regis register regret regular regulation rehearsal reich reign reilly reins reissue
    reject relate related relationship relax relay release released releases relegated relics
    relied relief relieve religion religious relocated remain remainder remained remake remark
    rematch remedy remember remembered remind reminder remix remnant remote remove renamed renault
    render renee renew renovation rental rented repair repeal repeat replace replaced replay
    replica reply report reported represent representation reprise republic republican reputed
    request requiem require required rescue research reserve reside residential residue resign
    resin resist resolution resolve resort resource respect respond response restaurant restore
    restricted rests result resume resumed retail retain retina retire retired retreat retrieved
    retro return returned reuben reunion reveal revenge revenue reverse review revised revive
    revolt revolution revolutionary revue reward reyes rhine rhode rhone rhyme rhythm ribbon rican
    ricardo richard richest richie richmond richter ricky ridden riddle rider rides ridge ridley
    rifle right rights rigid riley rings riots ripped risen rises risks risky ritchie rites ritual
    rival rivalry river rivera roach roads roadway roared robbed robbery robbie robbins robert
    roberto robes robin robinson robot robust roche rocket rocks rocky rodeo rodgers rodney
    rodrigo roger rogue roland rolando roles rollback roller rolls roman romance romania romanian
    romano romantic romeo romero romney ronald ronan ronnie roofs rookie roommate rooms rooster
    roots ropes rosario rosen roses rosie rossi roster rotary rotated rotor rotten rotting rouge
    rough round route router routes routine rover rowan rower rowing rowland royal royalty royce
    rubbed rubber rubble ruben rubin ruble rudolf rudolph rufus rugby rugged ruins ruler rules
    rumble rumor rumours runaway runbook runner running runoff runway rupert rural rushed russell
    russia russian russo rusty rutgers rwanda ryder sabah sabbath sabha sabine sabre sabrina sacks
    sacred saddle sadie sadly saetan safely safer safety sahara sailing sailor sails saint salad
    salary salem sales salle sally salman salmon salon saloon salute salvage sammy samoa sample
    sampson samson samsung samuel samurai sanchez sandals sanders sandra sands sandwich sandy
    sanford sanity santa santana santo sarah sarawak sarcasm sasha satan satellite satin satire
    satisfy saturday saturn sauce saudi savage savanna saved savoy sawyer saxon saxony saxophone
    saying scale scalp scandal scanned scanner scarce scare scarf scarlet scarlett scars scary
    scene scenery scenic scent schedule schema schemas scheme schmidt scholar scholarship school
    schools schultz science sciences scientific scientist scooped scooter scope score scored
    scorer scotch scotia scotland scots scott scottish scout scowl scrap scraped scraper scratch
    scream screen screw screwdriver script scroll scrub sculpture seafood seals seaman search
    sears seaside season seatbelt seats seattle sebastian second secondary secrecy secret
    secretary section sector secular secure security sedan seeds seeing seeks seemed seems segment
    segunda seine seize seizure seldom select selena selfish seller sells seminal seminar semitic
    senate sends seneca senegal senior sense senses sensitive sensor sensory sensual sentence
    seoul separate september sequel sequence serbia serbian serbs serena serge sergeant sergei
    sergey sergio serial serie series serious sermon serpent serum servant serve served server
    service services session setting settle settlement settler setup seven seventh seventy several
    severe seville sewage sewer sewing sexes sexual seymour shack shade shadow shaft shake shaken
    shaky shale shall shallow shame shampoo shane shankar shannon shape share sharif shark sharma
    sharon sharp sharply shaun shaved shawn shear sheath sheen sheep sheer sheet sheikh sheila
    shelby sheldon shelf shell shelley shellfish shelter shelton shelves shepard sheppard sheriff
    sherman sherry shield shift shifter shine shingles shiny ships shire shirley shirt shiva
    shiver shock shoelaces shoes shone shook shoot shooter shopping shops shore short shorter
    shotgun shots should shoulder shouldn shouldnt shout shove showed shower shown shows shrimp
    shrine shrub shrug shudder shuttle siberia siblings sichuan sicily sides sidney siege siemens
    siena sienna sierra sighs sight sigma signal signed signer significance significant signs
    silas silence silent silesia silicon silky silly silva silver silvery similar simmons simon
    simple simpler simply simpson simultaneously sinai sinatra since sincere sindh singapore
    singer singh single singles sings sinking sioux sipped siren sister sitcom sites sitting
    situated sixteen sixth sixty sized skate skater sketch skewer skier skies skiing skill skinner
    skinny skins skipped skirt skull skyla skyline slack slade slain slalom slammed slang slapped
    slash slate slater slavery slavic slayer sleek sleep sleepover sleepy sleeve slender slept
    slice slick slide slight slippers slips sloan slogan slope slots slovak slovene slowed slower
    slowly slumped slung smack small smaller smart smartphone smash smell smile smiled smirk smith
    smoke smoky smooth smoothie snack snacks snail snake snaps snarled sneak sneakers sniffed
    sniper snorted snout snowy snyder soaked sobbing sober soccer social socialist societe society
    socio socket socks sodium sofas sofia softball softer softly software soils solar soldier
    solely solemn solid soloist solomon solution solve somali somalia someday somehow someone
    somethin something sometimes somewhat somewhere sonata songs songwriter sonia sonic sonny
    sooner sophia sophie soprano sorrow sorry sorts sought souls sound soundtrack source sources
    south southeast southern southwest soviet sowing space spacex spaghetti spain spanish spans
    spare spark sparrow sparse sparta spartan spatial spawned speak speaker spear special species
    specific specify speech speed spell spence spencer spend spent sperm sphere spice spider spies
    spike spill spinach spinal spine spiral spire spirit spiritual spite splash split spoiled
    spokane spoke spoken sponge sponsor spoon sport sports spots spouse sprain sprang spray spread
    spring sprint sprints spruce sprung spurs squad squadron square squares squash squeeze squire
    stabbed stable stacey stack stacy stade stadion stadium staff staffed stage staging stain
    stairs stake stalin stalked stall stamp stance stand standard standing standup stanley stanton
    staple stapler stare stark starr starred stars start started starter starting state stated
    statement states static statins station statistics statue stature status statute stays steady
    steak steal stealth steam steamer steel steep steer stefan stefano stein steiner stella
    stellar stems stench stepbrother stepdaughter stepfather stephan stephen stepmother steps
    stepsister stepson stereo stern steve steven stevie steward stewart stick sticky stiff still
    stimuli sting stint stirred stock stoke stole stolen stomach stomped stone stony stood stool
    stopped stops storage store storey stories storm story stout stove straight strain strait
    strand strange strap strategic strategy strauss straw strawberries stray streak stream
    streaming street strength stress stretch strict stride strike striker string strip stripe
    strode stroke stroller strong stronger struck struct structure structures struggle stryker
    stuart stuck student students studied studies studio study studying stuff stuffed stumble
    stung stunned stunt stupid style subdued subject submarine submit subnet subscription
    subsequent subset subsidiary substantial substitute subtle suburb subway succeed success
    successful successor sucks sudan sudden suffer sufficient suffix suffolk sugar suggest suicide
    suitable suitcase suite sulfur sullivan sultan sumatra summary summer summit summon sunday
    sunny sunrise sunscreen sunset super superb superior supermarket supper supplements supply
    support suppose supreme surely surface surfing surge surgeon surgery surname surplus surprise
    surreal surrender surrey surrounded survey survive susan suspect suspended sussex sustain
    sutton suzanne suzuki swallow swami swamp swansea swarm swayed swear sweat sweater sweaty
    sweden swedish sweeney sweep sweet swell swept swift swimmer swimming swindon swing swirled
    swiss switch switzerland swollen sword swore sworn swung sydney sylvia symbol symphony synod
    synonym syntax syria syrian syrup system systems tabitha table tables tablet tablets tackle
    tactic tailor tails taipei taiwan taken takeoff takes taking talbot talent tales taliban
    talking talks taller tallest tallinn tally talon tamara tamil tammy tampa tanaka tandem
    tangled tango tanker tanks tanner tanya tapes tapped target tasks taste tattoo taught tavern
    taxes taylor tbilisi teach teacher teamed teams tears tease teatro technical technique techno
    technologies technology teddy teenage teens teeth tehran tehsil telecom telephone television
    teller tells telugu temper temperature temple temples tempo temporary tempted tenant tender
    tends tennessee tennis tenor tense tension tensor tenth tents tenure teresa terminal terminus
    termites terms terra terrace terraform terrain terrible territory terror terry tessa testify
    tests texas textile texts texture thailand thames thank theater theatre theft their theme
    themselves theodor theorem theory therapist therapy there thereafter thereby therefore thereof
    theres theresa thermal thermostat these thesis thick thicker thief thieves thing things think
    thinking third thirst thirteen thirty thomas thompson thomson thorn thorpe those though
    thought thousand thread threat threatened three threw thrill throat throne through throughout
    throughput throw thrown thrust thumb thump thunder thyroid tibet tibetan ticket tickets tidal
    tiers tiffany tiger tight tighten tighter tiles tilted timber timed timer times timor timothy
    tinder tipped tired tissue titan title titled titular titus toast toaster tobacco tobago
    tobias today toddler together toilet token tokens tokyo toledo tomas tomato tomatoes tombs
    tommy tomorrow tones tonga tongue tonight tonnes tools tooth toothache toothbrush toothpaste
    topic topped torah torch torment tornado toronto torpedo torque torre torso torture torus
    tossed total touch tough tourism tourist tournament tours toward towards towed towel towels
    tower towns township toxic toyota trace track tracks tract tractor tracy trade trader
    tradition traditional traffic tragedy tragic trail trailer train trainer training trait
    traitor trams tramway trance trans transfer transit translated transmission transport traps
    trash trauma travel travis treadmill treason treat treatment treaty trees tremble trench trend
    trent trenton trevor trial tribal tribe tribune tribute trick tried tries trigger trilogy
    trimmed trinity triple tripoli trips tristan triumph trivial trois troll trolley trombone
    troop trophy tropical trouble troupe trousers trout truce truck truly truman trump trumpet
    trunk trust trustee truth trying tsunami tubes tucked tucker tucson tudor tuesday tugged
    tuition tulsa tumbled tumor tunes tunisia tunnel turbine turbo turin turkey turkish turks
    turmoil turned turner turnout turns turret turtle tutor twelfth twelve twenty twice twins
    twist twitch twitter tying tyler types typescript typhoon typical tyrone tyson uganda ukraine
    ukrainian ulrich ulster ultimate ultra umbrella umpire unable unaware unblock uncle unclear
    undead under undergo underground underneath understand understood uneasy unesco uneven unfair
    unfortunately unhappy unicorn unified uniform unincorporated union unique unison unitary unite
    united units unity universal universe universities university unknown unless unlike unlock
    unnamed unrest unseen unsuccessful unsure untie until unused unusual update upgrade upheld
    upper upright upsert upset upside upstairs upward uranium urban urged urgency urgent urine
    ursula uruguay usage useful useless users usher using usual usually utility utrecht uttar
    utter vacancy vacant vacated vacation vaccination vaccine vacuum vague valerie valid valle
    valley valuable value valve vampire vance vancouver vanessa vanilla vanity vapor vargas
    variant varied variety various varsity vatican vaughan vaughn vault vector vegan vegas
    vegetables vegetarian vehicle veins velvet vendor venice venmo venom ventura venture venue
    venus verbal verbs verde verdi verdict verge verify verity verlag vermont vernon verona versa
    verse version versus vertex vertical vessel veteran veterinarian viable viaduct vibrant vicar
    vicente viceroy vicious vickers victim victor victoria victorian victory video vienna vietnam
    viewer views vijay viking viktor villa village villages villain ville vilnius vince vincent
    vinegar vines vintage vinyl viola violence violent violet violin viper viral virgil virgin
    virginia virtual virtue virus vishnu visible vision visit visitor vista visual vital vitamin
    vitamins vivian vivid vocal vocals vodka vogue voice voices voivodeship volcano volleyball
    voltage volume volunteer volunteers volvo voodoo voter votes vowed vowel voyage vuelta wages
    wagner wagon waist waiter waitress waits waived wakes wales walked walker walks walkway
    wallace wallet walls wally walnut walnuts walsh walter walton waltz wanda wander wanna wanted
    wants warden wardrobe wards warfare warlord warmed warmer warmth warner warns warrant warranty
    warren warrior warsaw warship wartime warwick washed washer washing washington waste watch
    water watermelon watford watkins watson watts waves wayne weaker weakly wealth wealthy weapon
    wears weary weather weaver weaving webber weber webhook webhooks website webster wedding wedge
    weeds weekday weekend weekly weeks weeping weigh weight weimar weird weiss welch welcome
    welfare wells welsh wembley wendy werent werner wesley western weston wetland whale wharf
    whatever wheat wheel wheelchair wheeler whenever where whereas whereby wherein wheres whether
    which while whilst whipped whirled whiskey whisky whisper whistle white whitish whitman
    whitney whoever whole wholly whose wichita wicked wicket widely widen wider widespread widow
    width wigan wight wilde wilder wildlife wiley wilhelm wilkes willard willem william willow
    wills willy wilson winced window winds windsor wines winger wings winked winkler winner
    winning winston winter wiped wires wisconsin wisdom wished witch withdrew within without
    witness wives wizard wolfe wolves woman women wonder wooden woods woody words worked worker
    working workout works world worldwide worms worry worse worship worst worth worthy would
    wouldn wouldnt wound woven wraps wrath wreck wrestling wright wrist write writer writing
    written wrong wrote wrought wyatt wyoming xavier yacht yahoo yanked yankee yards yates yearly
    years yeast yellow yells yemen yeshiva yesterday yiddish yield yoghurt yogurt yorker yorkshire
    young younger youngest yours yourself youth youtube yukon yunnan yvonne zachary zagreb zambia
    zealand zhang zheng zionist zipper zombie zones zoology zucchini zurich

    abbiamo adonde ahora algun alguna algunas algunos allem aller alles alors altijd anche ancora
    andere anderen antes apres aquel aquella arbeite arbeiten arbeitet aucun aunque aussi autre
    autres avait avere avoir beaucoup bereits beter bevor bisschen bitte brauche braucht buono
    chaque combien comme cuales cualquier cuando cuanta cuantas cuanto cuantos daarna daarom
    danach deine deinem deinen deiner dejar depuis deren derriere desde despues dessen dezelfde
    diese diesem diesen dieser dieses donde durante durch eerste eigen eigene eigenen einem einen
    einer eines einige ellas elles ellos enkele entonces entre estaba estan estar estas estos
    estoy etaient etait etwas faire fragen fuera fueron gegen gehen genau gerade gerne gesagt
    gestern geweest gisteren graag gusta gustan haben haber habite hablar hacer hacia hanno hasta
    hatte hatten hebben heeft heisse heissen heisst heten heute hinter hoelang hoeveel iedere
    iemand ihnen ihrem ihren ihrer immer jamais jedem jeden jeder jedes jetzt jours kannst keine
    keinem keinen keiner kenne kennst kommt konnte kunnen laquelle lequel letzte letzten letzter
    leurs liebe llama llamo machen macht maintenant maken manche meine meinem meinen meiner meines
    mejor menos mientras mieux mijne minder moest moeten moins molto morgen mucha muchas mucho
    muchos musste nachdem nadie neben nehme nicht nichts niemand niets nooit nostra nostro nuestra
    nuestras nuestro nuestros nunca omdat onder otras otros parce parle parler pendant porque
    pourquoi prochain prochaine puede puedo quale quali quand quando quanti quanto quelle quelles
    quelque quels questa questo quien quienes quiere quiero saber sabes schon segun seinem seinen
    seiner sempre senza sicher sinds sobre sollte somos sondern souvent spiele spielt spreche
    spricht staat stato sueles suelo sujet tambien tanto tegen tener tengo tenia tiene tienen
    tienes todas todavia todos toujours toute toutes trabaja trabajo trage travaille trinke
    trinken tussen tutti tutto unser unsere unserem unseren unserer unter usted ustedes vandaag
    verder viele vielen vielleicht volgende vostra vostro votre vuestra vuestro waarin waarmee
    waarom wanneer waren warum welche welchem welchen welcher welches welke wenig werde werden
    weshalb wessen wieder wieviel wieviele willen wirst wohne wohnen wohnt wollte woont worden
    wurde wurden zeggen zijne zonder zullen zwischen
  ';

comment on function memory.common_words() is
'Words and names of at least five letters that are right though no memory has them. English: the '
'most frequent ones in the vocabulary of BERT (uncased; Google, Apache License 2.0), rarer ones of '
'at most seven letters, and those of everyday life and of software, mostly in one form. German, '
'French, Spanish, Dutch and Italian: what questions ask with, pronouns and common verbs, '
'without accents.';
grant execute on function memory.common_words to memory_search;

commit;
