function [given, report] = octave_case(name)
%OCTAVE_CASE  What the scripts octave_*.m of this folder are asked for, and how they answer.
%   [given, report] = octave_case(name) reads the environment: ADDRESS (of a wiregauge responder), IN, OUT (bytes of whole frames),
%   COUNT, DEPTH. given is a struct of them; report(seconds, rtt_ns) prints the one line of
%   JSON; seconds is of all, or of each of several equal slices. It puts the package of matlab/ on the path.

here = fileparts(mfilename('fullpath'));
addpath(fullfile(here, '..', '..', 'matlab'));
given.address = getenv('ADDRESS');
if isempty(given.address)
    error('ADDRESS is not set: tcp://HOST:PORT or serial://PATH of a wiregauge responder');
end
given.in = number('IN', 48);
given.out = number('OUT', 16);
given.count = number('COUNT', 1000);
given.depth = number('DEPTH', 1);
report = @(seconds, rtt_ns) printed(name, given.count, seconds, rtt_ns);
end

function printed(name, count, seconds, rtt_ns)
list = sprintf('%.0f,', rtt_ns);
slices = sprintf('%.9f,', seconds);
printf('{"name": "%s", "count": %d, "seconds": %.9f, "slices": [%s], "rtt_ns": [%s]}\n', ...
       name, count, sum(seconds), slices(1:end - 1), list(1:end - 1));
end

function value = number(name, default)
value = str2double(getenv(name));
if isnan(value)
    value = default;
end
end
