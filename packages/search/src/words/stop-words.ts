/**
 * Words that say how somebody asks and not what for: those that English joins sentences with, and those that requests
 * begin with. They are left out of questions and documents. Words that name an action or a thing of any field are not
 * here.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any anyone anything are aren as at be because been before being below between both but by
  can cannot could couldn did didn do does doesn doing don done down during each either else etc few for from further get gets getting give given gives go
  goes going gonna got had has hasn have haven having he hello help helped helps her here hers hey hi him his how however i if im in into is isn it its
  itself ive just kind kindly know let lets like ll looking lot made make makes making many maybe me might mine more most much must my myself need needed
  needing needs neither no nor not now of off ok okay on once one ones only or other others our ours out over own please possible probably quickly re
  really right same say says see seem shall she should show shows so some somebody somehow someone something soon still such suggest sure take tell than
  thank thanks that the their theirs them then there these they thing things this those through to together too toward try trying under until up us use
  used useful user users uses using ve very via want wanted wanting wants was wasn way we well were weren what whatever when where whether which while
  who whole whom whose why will wish with within without won would wouldn yes yet you your yours yourself
  able actually already another currently different example first good great recently specific different various interested wondering
  provide provides provided providing allow allows allowed allowing enable enables based tool tools service services function functionality api
  e.g i.e eg ie`.split(/\s+/),
);
