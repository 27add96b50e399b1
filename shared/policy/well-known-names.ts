/**
 * A thousand ordinary names of well-known sites and services in many countries. A rule that matches all of them counts
 * as matching every name. The list was written for this purpose from general knowledge, in no particular order.
 */
export const WELL_KNOWN_NAMES: readonly string[] = `
  nation.africa claude.ai mistral.ai perplexity.ai stability.ai bsky.app netlify.app vercel.app
  lanacion.com.ar derstandard.at krone.at oebb.at orf.at amazon.com.au news.com.au telstra.com.au
  theage.com.au australia.gov.au abc.net.au hln.be rtbf.be standaard.be vrt.be dir.bg amazon.com.br
  mercadolivre.com.br uol.com.br folha.uol.com.br amazon.ca bell.ca canada.ca cbc.ca ctvnews.ca lapresse.ca
  ubc.ca utoronto.ca arduino.cc home.cern admin.ch blick.ch cern.ch epfl.ch ethz.ch nzz.ch postfinance.ch
  sbb.ch srf.ch watson.ch people.com.cn tsinghua.edu.cn elastic.co aa.com accuweather.com adidas.com
  adobe.com airbnb.com airfrance.com airtable.com akamai.com aldi.com alexa.com alibaba.com aliexpress.com
  aljazeera.com allrecipes.com amazon.com aws.amazon.com console.aws.amazon.com kindle.amazon.com
  s3.amazonaws.com amd.com americanexpress.com anandtech.com android.com developer.android.com ansible.com
  anthropic.com aol.com apnews.com apple.com appleid.apple.com apps.apple.com captive.apple.com
  developer.apple.com itunes.apple.com mesu.apple.com music.apple.com push.apple.com support.apple.com
  swcdn.apple.com time.apple.com arstechnica.com asahi.com asana.com asda.com ask.com askubuntu.com asos.com
  asus.com atlassian.com att.com audible.com auth0.com autodesk.com axios.com azure.com portal.azure.com
  baidu.com bandcamp.com bangkokpost.com bankofamerica.com bbc.com bbcgoodfood.com bbva.com bestbuy.com
  bhphotovideo.com bilibili.com binance.com bing.com bitwarden.com blizzard.com blogger.com blogspot.com
  bloomberg.com bnpparibas.com bol.com booking.com boots.com maxcdn.bootstrapcdn.com bosch.com bose.com
  box.com brave.com search.brave.com britannica.com britishairways.com bt.com bundesliga.com bytedance.com
  caddyserver.com canon.com canva.com capitalone.com cars.com cbsnews.com cdiscount.com cdninstagram.com
  channelnewsasia.com chase.com chess.com chicagotribune.com chosun.com cisco.com citi.com clarin.com
  cloudflare.com cdnjs.cloudflare.com cnet.com cnn.com edition.cnn.com coinbase.com costco.com coupang.com
  crunchyroll.com dailymotion.com darty.com dawn.com dazn.com deepl.com deezer.com dell.com delta.com
  deviantart.com dictionary.com ocsp.digicert.com digitalocean.com discord.com discordapp.com
  cdn.discordapp.com disney.com disneyplus.com docker.com hub.docker.com doodle.com doordash.com douban.com
  dribbble.com dropbox.com duckduckgo.com duolingo.com ea.com easyjet.com ebay.com economist.com elpais.com
  eltiempo.com emirates.com emol.com engadget.com epicgames.com store.epicgames.com epicurious.com etsy.com
  eurosport.com eventbrite.com expedia.com facebook.com m.facebook.com fandom.com fast.com fastly.com
  fastmail.com fedex.com fidelity.com fifa.com figma.com firefox.com detectportal.firefox.com fitbit.com
  fiverr.com flashscore.com flickr.com flipkart.com fnac.com forbes.com ford.com formula1.com fortnite.com
  foxnews.com ft.com gamespot.com gap.com garmin.com connect.garmin.com genius.com giphy.com github.com
  api.github.com gist.github.com raw.githubusercontent.com gitlab.com gizmodo.com glassdoor.com
  globeandmail.com globo.com gmail.com abcnews.go.com goal.com godaddy.com gog.com goodreads.com google.com
  accounts.google.com calendar.google.com clients1.google.com cloud.google.com docs.google.com
  drive.google.com firebase.google.com gemini.google.com mail.google.com maps.google.com news.google.com
  photos.google.com play.google.com scholar.google.com translate.google.com ajax.googleapis.com
  fonts.googleapis.com storage.googleapis.com googlevideo.com gopro.com grafana.com grammarly.com
  gravatar.com groupon.com fonts.gstatic.com www.gstatic.com gulfnews.com haaretz.com handelsblatt.com
  hbomax.com healthline.com here.com hermesworld.com heroku.com hetzner.com hindustantimes.com hm.com
  www2.hm.com hotels.com hotmail.com hp.com hsbc.com huawei.com hubspot.com hulu.com ibm.com icloud.com
  gateway.icloud.com ifixit.com ign.com iheart.com ikea.com imdb.com imgur.com i.imgur.com indeed.com
  timesofindia.indiatimes.com infobae.com ing.com instagram.com intel.com intuit.com java.com jd.com jio.com
  johnlewis.com kaggle.com kakao.com klarna.com klm.com kompas.com kotaku.com kraken.com lastpass.com
  latimes.com lenovo.com letterboxd.com lg.com lifehacker.com linkedin.com live.com login.live.com
  onedrive.live.com lloydsbank.com logitech.com lowes.com lufthansa.com lyft.com macys.com mailchimp.com
  mapbox.com marca.com mashable.com mastercard.com mcdonalds.com medium.com meetup.com mercedes-benz.com
  merriam-webster.com messenger.com meta.com metacritic.com meteoblue.com microsoft.com
  copilot.microsoft.com teams.microsoft.com update.microsoft.com login.microsoftonline.com midjourney.com
  miro.com mlb.com monday.com mongodb.com monster.com monzo.com motorola.com msn.com mubi.com mysql.com
  n26.com namecheap.com nature.com naver.com nba.com nbcnews.com ndtv.com netflix.com netgear.com
  netlify.com newegg.com news24.com newyorker.com nfl.com nginx.com nhl.com nikkei.com nikon.com nokia.com
  nordstrom.com npmjs.com nvidia.com nytimes.com oculus.com office.com outlook.office365.com okta.com
  oneplus.com openai.com chat.openai.com opendns.com opentable.com opera.com oracle.com outlook.com ovh.com
  ovhcloud.com pandora.com paramountplus.com paypal.com pcmag.com peacocktv.com pinimg.com pinterest.com
  playstation.com store.playstation.com politico.com polygon.com premierleague.com primevideo.com
  protonmail.com punchng.com qatarairways.com qnap.com qq.com qualcomm.com quizlet.com quora.com qwant.com
  rappler.com raspberrypi.com realtor.com reddit.com old.reddit.com redditmedia.com redhat.com render.com
  renfe.com replit.com reuters.com revolut.com ring.com riotgames.com robinhood.com roblox.com rogers.com
  roku.com royalmail.com ryanair.com salesforce.com login.salesforce.com salon.com samsung.com santander.com
  schwab.com sciencedirect.com scmp.com sendgrid.com sephora.com serverfault.com sharepoint.com shazam.com
  shein.com shopify.com siemens.com sky.com skype.com skysports.com slack.com app.slack.com slate.com
  sling.com snapchat.com snopes.com sogou.com sonos.com sony.com soundcloud.com southwest.com spectrum.com
  spotify.com open.spotify.com springer.com link.springer.com squarespace.com squareup.com stackblitz.com
  stackexchange.com stackoverflow.com startpage.com steamcommunity.com steamcontent.com steampowered.com
  straitstimes.com stripe.com substack.com superuser.com surveymonkey.com synology.com tailscale.com
  target.com techcrunch.com ted.com telefonica.com tenor.com tesco.com tesla.com theatlantic.com
  theguardian.com thehill.com thehindu.com theregister.com thetrainline.com theverge.com tidal.com
  tiktok.com time.com tmall.com todoist.com tokopedia.com tomshardware.com tomtom.com toyota.com tp-link.com
  trello.com trenitalia.com tripadvisor.com trivago.com tumblr.com tunein.com tutanota.com twilio.com
  abs.twimg.com pbs.twimg.com twitter.com mobile.twitter.com typeform.com uber.com ubereats.com ubisoft.com
  ubnt.com ubs.com ubuntu.com archive.ubuntu.com ntp.ubuntu.com security.ubuntu.com uefa.com ui.com
  uniqlo.com united.com unity.com unpkg.com unrealengine.com ups.com usatoday.com usbank.com usps.com
  verisign.com verizon.com viber.com vimeo.com player.vimeo.com virginmedia.com visa.com visualstudio.com
  code.visualstudio.com vivaldi.com vk.com vmware.com vodafone.com vox.com walmart.com washingtonpost.com
  wayfair.com weather.com webmd.com wechat.com weibo.com wetransfer.com wetter.com whatsapp.com
  web.whatsapp.com wholefoodsmarket.com wikihow.com wiley.com time.windows.com windowsupdate.com
  download.windowsupdate.com wired.com wireguard.com wise.com wish.com wix.com wolframalpha.com
  wordpress.com wsj.com wunderground.com xbox.com xfinity.com xiaomi.com xing.com xinhuanet.com yahoo.com
  finance.yahoo.com mail.yahoo.com news.yahoo.com yandex.com news.ycombinator.com yelp.com youtube.com
  m.youtube.com music.youtube.com i.ytimg.com zappos.com zara.com zdnet.com zendesk.com zerotier.com
  zhihu.com zillow.com aktualne.cz idnes.cz seznam.cz adac.de amazon.de ard.de ardmediathek.de bahn.de
  bild.de bmw.de bund.de bundestag.de chefkoch.de chip.de comdirect.de commerzbank.de computerbase.de
  deutsche-bank.de deutschepost.de deutschlandfunk.de dhl.de dkb.de duden.de dwd.de ebay.de elster.de
  focus.de fu-berlin.de gmx.de golem.de heise.de hetzner.de immobilienscout24.de ionos.de kicker.de
  kleinanzeigen.de komoot.de lidl.de lieferando.de mediamarkt.de mobile.de netdoktor.de o2online.de otto.de
  postbank.de posteo.de rewe.de rossmann.de rwth-aachen.de saturn.de spiegel.de stepstone.de stern.de
  strato.de sueddeutsche.de t-online.de tagesschau.de taz.de telekom.de transfermarkt.de tu-berlin.de tum.de
  uni-heidelberg.de vodafone.de web.de welt.de zalando.de zdf.de zeit.de go.dev pkg.go.dev politiken.dk
  tv2.dk berkeley.edu caltech.edu cmu.edu columbia.edu cornell.edu harvard.edu kit.edu mit.edu stanford.edu
  umich.edu yale.edu delfi.ee abc.es amazon.es elmundo.es rtve.es ec.europa.eu europarl.europa.eu
  iltalehti.fi yle.fi last.fm amazon.fr ameli.fr carrefour.fr francetvinfo.fr free.fr impots.gouv.fr
  leboncoin.fr lefigaro.fr lemonde.fr leparisien.fr lequipe.fr liberation.fr orange.fr radiofrance.fr rfi.fr
  service-public.fr sfr.fr dns.google cdc.gov fda.gov irs.gov loc.gov medlineplus.gov nasa.gov nih.gov
  time.nist.gov noaa.gov ssa.gov usa.gov whitehouse.gov kathimerini.gr index.hr index.hu origo.hu telex.hu
  ynet.co.il airtel.in amazon.in irctc.co.in nato.int who.int auth.docker.io registry-1.docker.io fly.io
  home-assistant.io itch.io jenkins.io nextdns.io prometheus.io redis.io terraform.io ruv.is amazon.it
  corriere.it gazzetta.it lastampa.it libero.it rai.it redd.it i.redd.it repubblica.it unicredit.it
  u-tokyo.ac.jp amazon.co.jp rakuten.co.jp yahoo.co.jp goo.ne.jp nicovideo.jp nhk.or.jp joongang.co.kr
  delfi.lt delfi.lv line.me proton.me mail.proton.me eluniversal.com.mx akamaihd.net alarabiya.net apnic.net
  arin.net battle.net behance.net cloudfront.net comcast.net daum.net eurogamer.net fastly.net faz.net
  fbcdn.net gandi.net gmx.net inquirer.net cdn.jsdelivr.net jsfiddle.net laposte.net minecraft.net
  mozilla.net nflxvideo.net nintendo.net openvpn.net php.net pi-hole.net pixiv.net quad9.net
  researchgate.net ripe.net skyscanner.net speedtest.net threads.net thunderbird.net ukr.net vnexpress.net
  coolblue.nl marktplaats.nl nlnetlabs.nl nos.nl www.nu.nl telegraaf.nl volkskrant.nl aftenposten.no nrk.no
  www.yr.no nzherald.co.nz stuff.co.nz mega.nz one.one.one.one acm.org dl.acm.org alpinelinux.org
  amnesty.org apache.org archive.org web.archive.org archlinux.org aur.archlinux.org bitbucket.org
  chromium.org coursera.org craigslist.org crossref.org debian.org security.debian.org doi.org ecosia.org
  edx.org eff.org fedoraproject.org freebsd.org gentoo.org gnu.org golang.org proxy.golang.org
  greenpeace.org gutenberg.org iana.org icann.org ieee.org ieeexplore.ieee.org ietf.org datatracker.ietf.org
  imf.org jellyfin.org joinmastodon.org jstor.org kernel.org khanacademy.org r3.o.lencr.org leo.org
  letsencrypt.org maven.org mayoclinic.org mediawiki.org moodle.org mozilla.org addons.mozilla.org
  netbsd.org nginx.org nodejs.org registry.npmjs.org npr.org pool.ntp.org nuget.org oecd.org openjdk.org
  openlibrary.org openstreetmap.org tile.openstreetmap.org opensuse.org openwrt.org orcid.org pbs.org
  perl.org postgresql.org pypi.org python.org docs.python.org files.pythonhosted.org raspberrypi.org
  redcross.org rfc-editor.org rubygems.org rust-lang.org science.org signal.org slashdot.org sqlite.org
  telegram.org web.telegram.org torproject.org tvtropes.org unesco.org w3.org whatwg.org wikibooks.org
  wikidata.org wikimedia.org commons.wikimedia.org upload.wikimedia.org wikipedia.org de.wikipedia.org
  en.wikipedia.org es.wikipedia.org fr.wikipedia.org it.wikipedia.org ja.wikipedia.org nl.wikipedia.org
  pl.wikipedia.org pt.wikipedia.org ru.wikipedia.org sv.wikipedia.org zh.wikipedia.org wikiquote.org
  wikivoyage.org wiktionary.org wordpress.org worldbank.org allegro.pl gazeta.pl interia.pl onet.pl
  publico.pt rtp.pt sapo.pt digi24.ro docs.rs rts.rs mail.ru rbc.ru yandex.ru aftonbladet.se expressen.se
  svt.se nus.edu.sg sme.sk notion.so bluesky.social mastodon.social hurriyet.com.tr sozcu.com.tr fubo.tv
  kodi.tv plex.tv app.plex.tv twitch.tv pravda.com.ua cam.ac.uk imperial.ac.uk ucl.ac.uk amazon.co.uk
  argos.co.uk autotrader.co.uk barclays.co.uk bbc.co.uk deliveroo.co.uk nationalrail.co.uk rightmove.co.uk
  sainsburys.co.uk zoopla.co.uk gov.uk metoffice.gov.uk nhs.uk zoom.us us02web.zoom.us tuoitre.vn iol.co.za
`
  .trim()
  .split(/\s+/);
