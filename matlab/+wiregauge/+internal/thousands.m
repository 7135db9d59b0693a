function text = thousands(number)
%THOUSANDS  A whole number with a comma between groups of three digits, as in the tables of the program.
%   text = wiregauge.internal.thousands(12000) returns '12,000'.

text = regexprep(sprintf('%d', number), '\d(?=(\d{3})+$)', '$0,');
end
